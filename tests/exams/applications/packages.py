"""The applications: Debian's packages, and the scripts in them."""

from typing import NamedTuple


class Application(NamedTuple):
    name: str
    package: str
    # Patterns of paths in the package, in the order in which the scripts are run. The scripts of one pattern are run
    # in the order of their versions. Upgrade scripts are for older schemas: here they fail in places, on both servers in
    # the same.
    scripts: list[str]


def dbconfig(name: str, package: str, folder: str | None = None) -> Application:
    """Returns an application whose package has its scripts where dbconfig-common expects them."""
    path = f"usr/share/dbconfig-common/data/{folder or package}"
    return Application(name, package, [f"{path}/install/mysql", f"{path}/upgrade/mysql/*"])


APPLICATIONS = [
    dbconfig("bacula", "bacula-director-mysql"),
    Application("cacti", "cacti", ["usr/share/cacti/conf_templates/cacti.sql"]),
    Application("freeradius", "freeradius-config", [f"etc/freeradius/3.0/mods-config/sql/{part}/mysql/*.sql" for part in (
        "main", "cui", "dhcp", "ippool", "ippool-dhcp", "moonshot-targeted-ids", "main/extras/wimax")]),
    Application("gammu", "gammu-smsd", ["usr/share/doc/gammu-smsd/examples/mysql.sql"]),
    Application("gerbera", "gerbera", ["usr/share/gerbera/mysql.sql"]),
    dbconfig("icinga2", "icinga2-ido-mysql"),
    Application("icingadb", "icingadb", ["usr/share/icingadb/schema/mysql/schema.sql", "usr/share/icingadb/schema/mysql/upgrades/*.sql"]),
    Application("icingaweb2", "icingaweb2", ["usr/share/icingaweb2/schema/mysql.schema.sql", "usr/share/icingaweb2/schema/mysql-upgrades/*.sql"]),
    Application("icingaweb2_director", "icingaweb2-module-director", [
        "usr/share/icingaweb2/modules/director/schema/mysql.sql", "usr/share/icingaweb2/modules/director/schema/mysql-migrations/*.sql"]),
    Application("kamailio", "kamailio-mysql-modules", ["usr/share/kamailio/mysql/standard-create.sql", "usr/share/kamailio/mysql/*.sql"]),
    Application("kea", "kea-admin", ["usr/share/kea/scripts/mysql/dhcpdb_create.mysql"]),
    Application("mediawiki", "mediawiki", [
        "usr/share/mediawiki/maintenance/tables.sql", "usr/share/mediawiki/maintenance/tables-generated.sql",
        "usr/share/mediawiki/extensions-core/*/*/mysql/tables-generated.sql", "usr/share/mediawiki/maintenance/archives/patch-*.sql"]),
    dbconfig("phpmyadmin", "phpmyadmin"),
    Application("powerdns", "pdns-backend-mysql", ["usr/share/pdns-backend-mysql/schema/schema.mysql.sql", "usr/share/pdns-backend-mysql/schema/*.sql"]),
    Application("request_tracker", "request-tracker5", [
        "usr/share/request-tracker5/etc/schema.mysql", "usr/share/request-tracker5/etc/upgrade/*/schema.mysql"]),
    dbconfig("roundcube", "roundcube-core", "roundcube"),
    dbconfig("rsyslog", "rsyslog-mysql"),
    dbconfig("tango", "tango-db"),
    dbconfig("tt_rss", "tt-rss"),
    Application("zabbix", "zabbix-server-mysql", [f"usr/share/zabbix-server-mysql/{part}.sql.gz" for part in (
        "schema", "images", "data", "double", "history_pk_prepare")]),
    Application("zoneminder", "zoneminder", ["usr/share/zoneminder/db/zm_create.sql", "usr/share/zoneminder/db/zm_update-*.sql"]),
]
