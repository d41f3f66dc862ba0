"""A real Slurm on this machine: its daemons with a configuration, keys and ports of their own.

Nothing of an installed Slurm is read or changed, and several can run side by side. No accounting
database, no cgroups: a job's memory is watched by polling. Needs Debian's packages `slurm-wlm` and
`munge`; any user can start it, and jobs run as that user.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "srun", "scancel", "scontrol", "sinfo", "squeue")
#: Debian keeps the daemons where only root looks for programs.
SEARCHED = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
#: Seconds that a daemon, a job or a state may be waited for: so long only where it is stuck.
PATIENCE = 300.0

CONFIGURATION = """\
ClusterName=everycell
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
ReturnToService=2
# Nodes may have more processors than this machine: the jobs of the tests are light.
SlurmdParameters=config_overrides
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
GresTypes=gpu
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/finished.txt
DefMemPerCPU=500
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Programs of Slurm that are not installed."""
    return [name for name in (*DAEMONS, *CLIENTS) if shutil.which(name, path=SEARCHED) is None]


def reserved_port() -> socket.socket:
    """Return a port that is reserved while the socket is open.

    It never listens, and has SO_REUSEADDR as Slurm's daemons have, so they can take the port.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


class Slurm:
    """A controller and its nodes, from `start` to `stop`.

    Parameters
    ----------
    folder
        Where configuration, state and logs go. Its path must be short: it holds a Unix socket.
    nodes
        Names of the nodes, each with 4 processors, 6 GB and what is taken for a GPU.
    """

    def __init__(self, folder: Path, nodes: tuple[str, ...] = ("one", "two")) -> None:
        self.folder = folder
        self.nodes = nodes
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.ports: list[socket.socket] = []
        self.before = 0

    def environment(self, path: str = SEARCHED) -> Mapping[str, str]:
        """Environment of commands for this Slurm alone; `path` is their PATH."""
        return {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{path}",
        }

    def start(self) -> None:
        """Start all daemons and wait until the nodes are idle."""
        host = socket.gethostname().partition(".")[0]
        # Kept until the end: a controller that is restarted finds its port free.
        self.ports = [reserved_port() for _ in range(1 + len(self.nodes))]
        controller, *ports = (port.getsockname()[1] for port in self.ports)
        lines = [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 "
            "RealMemory=6000 Gres=gpu:1 State=UNKNOWN"
            for node, port in zip(self.nodes, ports, strict=True)
        ]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=host,
                controller=controller,
                user=getpass.getuser(),
                folder=self.folder,
                nodes="\n".join(lines),
            )
        )
        # A device that every machine has replaces a GPU.
        (self.folder / "gres.conf").write_text("Name=gpu File=/dev/zero\n")
        (self.folder / "state").mkdir()
        self._wrap_srun()
        self._start_munge()
        self.start_controller()
        for node in self.nodes:
            (self.folder / f"spool.{node}").mkdir()
            self._start(f"slurmd.{node}", "slurmd", "-D", "-N", node)
        self.wait_for(lambda: self.states() == dict.fromkeys(self.nodes, "idle"), "idle nodes")

    def _wrap_srun(self) -> None:
        """Name the configuration to srun: Snakemake's plugin takes SLURM_CONF from it in a job."""
        wrapper = self.folder / "bin" / "srun"
        wrapper.parent.mkdir()
        wrapper.write_text(
            f"#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec "
            f'{shutil.which("srun", path=SEARCHED)} "$@"\n'
        )
        wrapper.chmod(0o755)

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self._start(
            "munged",
            "munged",
            "--foreground",
            "--force",
            *(
                f"--{option}={self.folder}/munge.{end}"
                for option, end in {
                    "socket": "socket",
                    "key-file": "key",
                    "pid-file": "pid",
                    "log-file": "log",
                    "seed-file": "seed",
                }.items()
            ),
        )
        self.wait_for((self.folder / "munge.socket").exists, "the socket of munged")

    def start_controller(self) -> None:
        """Start the controller, which takes up the state that an earlier one left."""
        self._start("slurmctld", "slurmctld", "-D")
        self.wait_for(self.answers, "an answer of slurmctld")

    def stop_controller(self) -> None:
        """Stop the controller; nodes and jobs go on."""
        daemon = self.daemons.pop("slurmctld")
        daemon.terminate()
        daemon.wait(PATIENCE)

    def answers(self) -> bool:
        """Whether the controller is up."""
        return self.run("scontrol", "ping", check=False).returncode == 0

    def _start(self, name: str, *command: str) -> None:
        output = (self.folder / f"{name}.out").open("ab")
        self.daemons[name] = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **self.environment()},
            start_new_session=True,
        )

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm."""
        return subprocess.run(
            command,
            env={**os.environ, **self.environment()},
            capture_output=True,
            text=True,
            check=check,
            timeout=PATIENCE,
        )

    def states(self) -> dict[str, str]:
        """State of each node, such as `idle`, `mixed`, `draining`."""
        lines = self.run("sinfo", "-h", "-N", "-o", "%N %T").stdout.splitlines()
        return dict(line.split() for line in lines)

    def jobs(self, state: str) -> dict[str, str]:
        """Jobs in a state: number -> comment, which names the rule or the group."""
        listed = self.run("squeue", "-h", "-t", state, "-o", "%i|%k").stdout.splitlines()
        return dict(line.split("|", 1) for line in listed)

    def finished(self) -> list[dict[str, str]]:
        """Fields of each job that has ended since `reset`, in the order of their end."""
        return [
            dict(field.split("=", 1) for field in line.split() if "=" in field)
            for line in self._ended()[self.before :]
        ]

    def _ended(self) -> list[str]:
        path = self.folder / "finished.txt"
        return path.read_text().splitlines() if path.exists() else []

    def reset(self) -> None:
        """Cancel all jobs and take all nodes into service: as after `start`."""
        if "slurmctld" not in self.daemons:
            self.start_controller()
        self.cancel_all()
        for node, state in self.states().items():
            if state.startswith("drain"):
                self.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
        self.wait_for(lambda: self.states() == dict.fromkeys(self.nodes, "idle"), "idle nodes")
        self.before = len(self._ended())

    def cancel_all(self) -> None:
        """Cancel all jobs, and wait until their processes are gone."""
        self.run("scancel", "--user", getpass.getuser())
        self.wait_for(lambda: not self.jobs("running,pending,completing"), "the end of all jobs")

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until a condition holds; a daemon that ended in between is an error.

        Raises
        ------
        RuntimeError
            It did not hold in time; the message has the last lines of all logs.
        """
        end = time.monotonic() + PATIENCE
        while not condition():
            ended = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if ended or time.monotonic() > end:
                fault = f"{', '.join(ended)} ended" if ended else "time is up"
                raise RuntimeError(f"Slurm: waited for {what}, but {fault}.\n{self.logs()}")
            # Each look is a process of its own.
            time.sleep(0.2)

    def logs(self) -> str:
        """Last lines of the logs of all daemons."""
        paths = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return "\n".join(
            f"== {path.name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-15:])
            for path in paths
        )

    def stop(self) -> None:
        """Cancel all jobs and end all daemons, whatever state they are in."""
        if "slurmctld" in self.daemons and self.answers():
            # An error here must not hide the failure of a test.
            with contextlib.suppress(RuntimeError, subprocess.SubprocessError):
                self.cancel_all()
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for port in self.ports:
            port.close()
