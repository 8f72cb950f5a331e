// Canal reads a server's log as its replica: by position, by GTID, definitions that change, every type.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/canal"
	_ "github.com/go-mysql-org/go-mysql/driver"
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"
)

const patience = 30 * time.Second

const every = `create table every (id int auto_increment primary key, ti tinyint, tu tinyint unsigned, bo tinyint(1), si smallint, mi mediumint unsigned, i int, iu int unsigned, bi bigint,
bu bigint unsigned, d decimal(20,6), f float, db double, bits bit(10), b1 bit(1), y year, da date, dt datetime(6), ts timestamp(3) null, t time(2), c char(5), vc varchar(100), vb varbinary(20),
bb binary(4), tx text, bl blob, e enum('a','b'), s set('x','y','z'), j json)`

const row = `insert into every values (null,-128,255,1,-32768,16777215,-2147483648,4294967295,-9223372036854775808,18446744073709551615,-1234567890.123456,1.5,-2.25e300,b'1100110011',b'1',2026,
'2024-02-29','2026-11-20 01:02:03.456789','2026-01-02 03:04:05.678','-10:11:12.5','ab','größe 😀',x'00ff10',x'01',repeat('t',300),x'deadbeef','b','x,z','{"a": [1, 2]}')`

var changes = []string{
	row, "insert into every () values ()", "update every set vc = 'changed', i = 7 where id = 1", "update every set i = id, tx = null", "delete from every where id = 2",
	"insert into every (i) select seq from seq_1_to_20", "replace into every (id, i) values (1, 5)",
	"create table other (a int, b varchar(10), c int unsigned, key (b))", "insert into other values (1, 'one', 4000000000), (2, null, 0)", "update other set a = a + 1",
	"insert into every (vc) values ('the middle')",
}

// Canal asks the server for a table's columns when it reads the first event: these come after it has read the others.
var later = []string{
	"alter table every add column added varchar(20) default 'x' after id, drop column bits", "insert into every (added) values ('later')",
	"rename table other to renamed", "insert into renamed values (9, 'end', 1)", "truncate renamed", "create database if not exists canal2", "drop database canal2",
	"insert into every (added) values ('the end')",
}

type handler struct {
	canal.DummyEventHandler
	seen chan string
}

func (h *handler) OnRow(e *canal.RowsEvent) error {
	h.seen <- fmt.Sprintf("%s %s %v", e.Action, e.Table, rowsOf(e.Rows))
	return nil
}

func (h *handler) OnDDL(_ *replication.EventHeader, _ mysql.Position, e *replication.QueryEvent) error {
	h.seen <- fmt.Sprintf("DDL %s %s", e.Schema, strings.ReplaceAll(string(e.Query), "127.0.0.1", "localhost"))
	return nil
}

func (h *handler) OnTableChanged(_ *replication.EventHeader, schema string, table string) error {
	h.seen <- "changed " + schema + "." + table
	return nil
}

func (h *handler) OnXID(_ *replication.EventHeader, _ mysql.Position) error {
	h.seen <- "commit"
	return nil
}

func rowsOf(rows [][]interface{}) string {
	var texts []string
	for _, row := range rows {
		var values []string
		for _, value := range row {
			values = append(values, fmt.Sprintf("%T:%v", value, value))
		}
		texts = append(texts, strings.Join(values, ","))
	}
	return strings.Join(texts, " / ")
}

func address() string { return "127.0.0.1:" + os.Getenv("EXAM_PORT") }

func record(name string, seen []string, err error) {
	outcome := "passed"
	if err != nil {
		outcome = "failed"
		seen = append(seen, err.Error())
	}
	line, _ := json.Marshal(map[string]string{"test": name, "outcome": outcome, "message": strings.Join(seen, "\n")})
	file, _ := os.OpenFile(os.Getenv("EXAM_OUTCOMES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	defer file.Close()
	fmt.Fprintln(file, string(line))
}

func execute(db *sql.DB, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func follow(gtid bool) ([]string, error) {
	admin, err := sql.Open("mysql", "root:@"+address()+"/mysql")
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	admin.SetMaxOpenConns(1)
	if err := execute(admin, "drop database if exists canal", "create database canal character set utf8mb4", "use canal", every); err != nil {
		return nil, err
	}
	configuration := canal.NewDefaultConfig()
	configuration.Addr, configuration.User, configuration.Flavor, configuration.ServerID = address(), "root", "mariadb", 5701
	configuration.Charset = "utf8mb4"
	configuration.Dump.ExecutionPath = ""
	configuration.IncludeTableRegex = []string{"canal\\..*"}
	reader, err := canal.NewCanal(configuration)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	h := &handler{seen: make(chan string, 1000)}
	reader.SetEventHandler(h)
	failed := make(chan error, 1)
	if gtid {
		set, err := reader.GetMasterGTIDSet()
		if err != nil {
			return nil, err
		}
		go func() { failed <- reader.StartFromGTID(set) }()
	} else {
		position, err := reader.GetMasterPos()
		if err != nil {
			return nil, err
		}
		go func() { failed <- reader.RunFrom(position) }()
	}
	if err := execute(admin, changes...); err != nil {
		return nil, err
	}
	var seen []string
	limit, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		select {
		case text := <-h.seen:
			seen = append(seen, text)
			if strings.Contains(text, "the middle") {
				if err := execute(admin, later...); err != nil {
					return seen, err
				}
			}
			if strings.Contains(text, "the end") {
				return seen, nil
			}
		case err := <-failed:
			return seen, fmt.Errorf("canal ended: %w", err)
		case <-limit.Done():
			return seen, fmt.Errorf("no more events")
		}
	}
}

func main() {
	for _, gtid := range []bool{true, false} {
		name := map[bool]string{true: "gtid", false: "position"}[gtid]
		seen, err := follow(gtid)
		record("canal by "+name, seen, err)
	}
}
