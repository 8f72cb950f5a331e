module exam

go 1.24

require github.com/go-mysql-org/go-mysql v1.13.0
