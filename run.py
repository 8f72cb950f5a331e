import sys, subprocess, pathlib, tempfile
sys.path.insert(0,'/root/cc/tests')
from support.servers import MariaDb, Paceline
q=open(sys.argv[1]).read()
for kind in (MariaDb, Paceline):
    d=pathlib.Path(tempfile.mkdtemp()); s=kind(d,"--server-id=1"); s.start()
    r=subprocess.run(["mariadb","--no-defaults","-uroot","-f","-S",str(s.socket),"--column-type-info" if len(sys.argv)>2 else "-v"],input=q,capture_output=True,text=True,errors="backslashreplace")
    open(f"/root/bt/{kind.__name__}.txt","w").write(r.stdout+r.stderr); s.close()
