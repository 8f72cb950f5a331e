#!/usr/bin/env bash
# Makes the certificates that the tests use, valid for a hundred years: run once, the results are kept beside this file.
# The keys protect nothing but tests.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
days=36500

key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" 2>/dev/null || openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }

authority() { # NAME SUBJECT
    key "$1"
    openssl req -x509 -new -key "$1.key" -days $days -subj "$2" -addext keyUsage=critical,keyCertSign,cRLSign -out "$1.pem"
}

# issue NAME AUTHORITY SUBJECT EXTENSIONS [more options of openssl ca]
issue() {
    local name=$1 authority=$2 subject=$3 extensions=$4
    shift 4
    [ -f "$name.key" ] || key "$name"
    openssl req -new -key "$name.key" -subj "$subject" -out "$work/$name.csr"
    printf '%b' "$extensions" >"$work/extensions"
    openssl ca -batch -config "$work/$authority.conf" -cert "$authority.pem" -keyfile "$authority.key" -in "$work/$name.csr" -notext \
        -extfile "$work/extensions" -out "$name.pem" "$@" 2>/dev/null
}

database() { # AUTHORITY
    mkdir "$work/$1"
    : >"$work/$1/index.txt"
    echo 01 >"$work/$1/serial"
    cat >"$work/$1.conf" <<CONF
[ca]
default_ca = this
[this]
dir = $work/$1
database = \$dir/index.txt
serial = \$dir/serial
new_certs_dir = \$dir
default_md = sha256
default_days = $days
default_crl_days = $days
policy = any
unique_subject = no
crl_extensions = crl
[any]
countryName = optional
organizationName = optional
commonName = supplied
[crl]
authorityKeyIdentifier = keyid
CONF
}

authority ca '/C=DE/O=Paceline/CN=Test Authority'
authority other-ca '/CN=Another Authority'
database ca
database other-ca
here='subjectAltName=DNS:localhost,DNS:db.example.com,IP:127.0.0.1,IP:::1\nbasicConstraints=critical,CA:FALSE\n'
issue server ca '/C=DE/O=Paceline/CN=server' "${here}extendedKeyUsage=serverAuth\n"
issue elsewhere ca '/CN=elsewhere' 'subjectAltName=DNS:elsewhere.example.com\nbasicConstraints=critical,CA:FALSE\n'
issue expired ca '/CN=expired' "$here" -startdate 20200101000000Z -enddate 20210101000000Z
issue client ca '/C=DE/O=Paceline/CN=client' 'basicConstraints=critical,CA:FALSE\nextendedKeyUsage=clientAuth\n'
issue revoked ca '/CN=revoked' 'basicConstraints=critical,CA:FALSE\n'
issue stranger other-ca '/CN=stranger' "$here"
openssl ca -config "$work/ca.conf" -cert ca.pem -keyfile ca.key -revoke revoked.pem 2>/dev/null
openssl ca -config "$work/ca.conf" -cert ca.pem -keyfile ca.key -gencrl -out revocations.pem 2>/dev/null

# An authority that is no longer valid, with a certificate that is; and one whose list of what it has revoked is out of date.
key lapsed-ca
database lapsed-ca
openssl req -new -key lapsed-ca.key -subj '/CN=Lapsed Authority' -out "$work/lapsed-ca.csr"
printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n' >"$work/extensions"
openssl ca -batch -config "$work/lapsed-ca.conf" -selfsign -keyfile lapsed-ca.key -in "$work/lapsed-ca.csr" -notext -extfile "$work/extensions" \
    -startdate 20200101000000Z -enddate 20210101000000Z -out lapsed-ca.pem 2>/dev/null
issue lapsed lapsed-ca '/CN=lapsed' "$here"
authority slow-ca '/CN=Slow Authority'
database slow-ca
issue slow slow-ca '/CN=slow' "$here"
openssl ca -config "$work/slow-ca.conf" -cert slow-ca.pem -keyfile slow-ca.key -gencrl -crl_lastupdate 20200101000000Z \
    -crl_nextupdate 20210101000000Z -out slow-revocations.pem 2>/dev/null
# X.509's first version, as below: out of another authority than the one whose list is known.
openssl req -new -key slow.key -subj /CN=slow-old -out "$work/slow-old.csr" 2>/dev/null
openssl x509 -req -in "$work/slow-old.csr" -days $days -CA slow-ca.pem -CAkey slow-ca.key -set_serial 78 -out slow-old.pem 2>/dev/null

# As MariaDB's guide has it: RSA, X.509's first version, the host in the common name.
openssl req -newkey rsa:2048 -nodes -keyout old.key -subj /CN=localhost -out "$work/old.csr" 2>/dev/null
openssl x509 -req -in "$work/old.csr" -days $days -CA ca.pem -CAkey ca.key -set_serial 77 -out old.pem 2>/dev/null

# As openssl req makes it: its own authority.
openssl req -x509 -newkey rsa:2048 -nodes -keyout alone.key -days $days -subj /CN=localhost -out alone.pem 2>/dev/null
rm -f ca.key other-ca.key lapsed-ca.key slow-ca.key
