"""A real Slurm cluster of four nodes on this machine: munged, slurmctld and four slurmd in a private folder on ports of
its own.

    with Cluster() as cluster:
        subprocess.run(["sinfo"], env=cluster.environment())

Any number may run side by side. Everything it starts is ended by pid. All four nodes report one host name: provenance
must use SLURMD_NODENAME, and Open MPI's shared memory transport would take different "nodes" for one, so it is switched
to TCP here (and only here).
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

NODES = ["trn1", "trn2", "trn3", "trn4"]
CONFIGURATION = """\
ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
FirstJobId={first_job}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd-%n.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
MaxArraySize={max_array}
MaxJobCount={max_jobs}
KillWait={kill_wait}
MinJobAge={min_job_age}
NodeName=trn[1-4] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{first_node_port}-{last_node_port}] \
CPUs=2 RealMemory=2000 State=UNKNOWN
PartitionName=trn1 Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


FIRST_PORT, LAST_PORT = 21000, 32000  # below what Linux gives to outgoing connections


class Ports:
    """Five neighbouring free ports (a range in slurm.conf must be contiguous), ours until close() or the end of this
    process.

    Any number of clusters may start at once: a claim is an abstract socket, which the kernel frees with its process,
    and which other network name spaces do not see, as they do not see the ports. A range is also left alone while one
    of its ports is in use: by a stranger, or by a daemon that outlived its test.
    """

    def __init__(self):
        count = (LAST_PORT - FIRST_PORT) // 5
        for step in range(count):
            base = FIRST_PORT + 5 * ((os.getpid() + step) % count)
            claim = socket.socket(socket.AF_UNIX)
            try:
                claim.bind(f"\0nkigrid-lab-{base}")
            except OSError:
                claim.close()
                continue
            if all(self._free(port) for port in range(base, base + 5)):
                self.claim, self.base = claim, base
                return
            claim.close()
        raise RuntimeError(f"no five neighbouring free ports between {FIRST_PORT} and {LAST_PORT}")

    @staticmethod
    def _free(port):
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
                return True
            except OSError:
                return False

    def close(self):
        self.claim.close()


class Cluster:
    def __init__(self, max_array=1001, kill_wait=3, min_job_age=300, max_jobs=10000):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-lab-"))
        self.processes = []
        self.ports = Ports()
        base = self.ports.base
        user = "root" if os.geteuid() == 0 else os.environ.get("USER", "nobody")
        # Job ids differ between clusters too: a test finds a stepd by its job's.
        self.configuration = CONFIGURATION.format(
            dir=self.dir,
            controller_port=base,
            first_node_port=base + 1,
            last_node_port=base + 4,
            first_job=1 + 1000 * (base - FIRST_PORT),
            user=user,
            max_array=max_array,
            kill_wait=kill_wait,
            min_job_age=min_job_age,
            max_jobs=max_jobs,
        )

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        (self.dir / "state").mkdir()
        for node in NODES:
            (self.dir / "spool" / node).mkdir(parents=True)
        (self.dir / "slurm.conf").write_text(self.configuration)
        key = self.dir / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self._run(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={self.dir}/munge.socket",
            f"--pid-file={self.dir}/munged.pid",
            f"--seed-file={self.dir}/munged.seed",
            f"--log-file={self.dir}/munged.log",
        )
        self._wait(lambda: (self.dir / "munge.socket").exists(), "munged")
        self.start_controller()
        for node in NODES:
            self._run("slurmd", "-D", "-N", node)
        self._wait(lambda: self.sinfo().count("idle") == 4, "four idle nodes")

    def start_controller(self):
        """Also after stop_controller(): the state survives."""
        self.controller = self._run("slurmctld", "-D")
        self._wait(lambda: "trn1" in self.sinfo(), "slurmctld")

    def stop_controller(self):
        self._end(self.controller)
        self.processes.remove(self.controller)

    def environment(self, **more):
        """What a user's shell on this cluster holds."""
        env = {
            "PATH": os.environ["PATH"] + ":/usr/sbin",
            "HOME": os.environ.get("HOME", "/"),
            "SLURM_CONF": str(self.dir / "slurm.conf"),
            "OMPI_MCA_btl": "tcp,self",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
        }
        env.update({name: os.environ[name] for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if name in os.environ})
        env.update(more)
        return env

    def command(self, *args):
        return subprocess.run(list(args), env=self.environment(), capture_output=True, text=True, timeout=60)

    def sinfo(self):
        return self.command("sinfo", "-h", "-N", "-o", "%N %t").stdout

    def squeue(self):
        """Lines of "id state name" of everything that is pending or running."""
        return self.command("squeue", "-h", "-r", "-o", "%i %T %j").stdout

    def __exit__(self, *_):
        if self.controller_alive():
            self.command("scancel", "--full", "--user", str(os.geteuid()))
        for process in reversed(self.processes):
            self._end(process)
        self.ports.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def controller_alive(self):
        return getattr(self, "controller", None) is not None and self.controller.poll() is None

    def _run(self, program, *args):
        path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        if path is None:
            raise RuntimeError(f"{program} is not installed")
        log = open(self.dir / f"{program}.out", "a")
        process = subprocess.Popen(
            [path, *args],
            env=self.environment(),
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        log.close()
        self.processes.append(process)
        return process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _wait(self, condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.1)
        logs = "\n".join(
            f"== {p.name}\n{p.read_text()[-1500:]}"
            for p in sorted(self.dir.glob("*.log")) + sorted(self.dir.glob("*.out"))
        )
        raise RuntimeError(f"the lab cluster did not come up: no {what} within {seconds} s\n{logs}")
