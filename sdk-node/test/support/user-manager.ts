// A manager of systemd for a user, in namespaces of its own: it boots, and ends, without this machine's own systemd.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SYSTEMD = '/usr/lib/systemd/systemd'
/** The deadline of a script, in seconds: it ends what hangs. */
const DEADLINE_S = 150

/**
 * The shell functions `boot` and `shut_down`, and a directory of units and a runtime directory of this script's own. What the
 * manager starts is ended with it, and with the script.
 */
const PREAMBLE = `set -eu
mount -t tmpfs none /run
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
mount -t cgroup2 none /sys/fs/cgroup
group=/sys/fs/cgroup/svc-test-$SCRIPT_ID
mkdir "$group"
echo $$ > "$group/cgroup.procs"
clean() { echo 1 > /sys/fs/cgroup/cgroup.procs || true; find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true; }
trap clean EXIT
export XDG_RUNTIME_DIR=/run/user/0
unset XDG_CONFIG_HOME XDG_STATE_HOME DBUS_SESSION_BUS_ADDRESS
boot() {
  ${SYSTEMD} --user --log-target=console >> "$HOME/systemd.log" 2>&1 < /dev/null &
  manager=$!
  until systemctl --user is-system-running --wait > /dev/null 2>&1; do sleep 0.1; done
}
shut_down() { kill $manager; wait $manager || true; }
`

/** @returns why there can be no such manager here; undefined where it can */
export function whyNoUserManager(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux'
  if (spawnSync(SYSTEMD, ['--version']).error !== undefined) return 'needs systemd'
  const trial =
    'mount -t cgroup2 none /sys/fs/cgroup && mkdir /sys/fs/cgroup/svc-test-trial && rmdir /sys/fs/cgroup/svc-test-trial'
  const { status } = spawnSync('unshare', ['-Cmpf', '--mount-proc', 'sh', '-c', trial])
  return status === 0 ? undefined : 'needs namespaces, and control groups of version 2 that can be written'
}

/**
 * Runs a script of the shell, with `boot` and `shut_down`.
 * @param home its home directory, which is there
 * @returns its standard output
 * @throws Error with its standard error when it fails
 */
export async function runWithManager(
  home: string,
  script: string,
  env: Record<string, string>,
): Promise<string> {
  const file = join(home, 'script.sh')
  await writeFile(file, PREAMBLE + script)
  const id = `${process.pid}-${Date.now()}`
  const args = ['-k', '5', `${DEADLINE_S}`, 'unshare', '-Cmpf', '--mount-proc', '--kill-child', 'bash', file]
  const child = spawn('timeout', args, {
    env: { ...process.env, ...env, HOME: home, SCRIPT_ID: id },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([
    child.stdout.toArray(),
    child.stderr.toArray(),
    once(child, 'close'),
  ])
  await rm(file)
  if (code !== 0) throw new Error(`the script ended with ${code}:\n${Buffer.concat(err)}`)
  return Buffer.concat(out).toString()
}
