// Runs the steps of the Dockerfile in a Debian system, and its program as the container runtime would: another account than
// root, a root file system that cannot be written, no capability, and a volume for the state.
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { root } from '../../tools/programs/command.ts'
import { CA, curl, HOST, MAKE_CA, newCertificate } from './certificates.ts'
import { type Machine, start } from './machine.ts'
import { run } from './run.ts'

const DOCKERFILE = path.join(root, 'packaging/docker/Dockerfile')
/** Milliseconds for the package lists of Debian. */
const RUN_TIMEOUT_MS = 5 * 60_000

interface Image {
  /** Commands of RUN. */
  steps: string[]
  user: string
  env: string[]
  volume: string
  entrypoint: string[]
  healthcheck: string[]
}

/** Proves the image in a system that was just unpacked. */
export async function runImage(directory: string, relayPackage: string): Promise<void> {
  const image = parse(await readFile(DOCKERFILE, 'utf8'))
  await copyFile(relayPackage, path.join(directory, 'tmp', path.basename(relayPackage)))
  // A container has no file system of its own at /tmp, where COPY puts the package.
  const inside = [
    'env',
    'SYSTEMD_NSPAWN_TMPFS_TMP=0',
    'systemd-nspawn',
    '--quiet',
    '--register=no',
    '--keep-unit',
    '--console=pipe',
    `--directory=${directory}`,
  ]
  for (const step of image.steps) await run([...inside, '/bin/sh', '-c', step], { timeoutMs: RUN_TIMEOUT_MS })
  await run([...inside, '/bin/sh', '-ec', `${MAKE_CA}; ${newCertificate(1)}`])
  const volume = `${directory}.volume`
  await run(['cp', '--archive', path.join(directory, image.volume), volume])
  const namespace = `svc-image-${process.pid}`
  await run(['ip', 'netns', 'add', namespace])
  try {
    await run(['ip', 'netns', 'exec', namespace, 'ip', 'link', 'set', 'lo', 'up'])
    // compose.yaml sets it, too.
    await run(['ip', 'netns', 'exec', namespace, 'sysctl', '-qw', 'net.ipv4.ip_unprivileged_port_start=0'])
    await runContainer(image, directory, volume, namespace)
  } finally {
    await run(['ip', 'netns', 'delete', namespace])
  }
}

async function runContainer(
  image: Image,
  directory: string,
  volume: string,
  namespace: string,
): Promise<void> {
  await mkdir(path.join(directory, 'tmp'), { recursive: true })
  const machine = await start(directory, [
    '--read-only',
    `--user=${image.user}`,
    '--drop-capability=all',
    '--no-new-privileges=yes',
    '--tmpfs=/tmp:mode=1777',
    `--bind=${volume}:${image.volume}`,
    `--network-namespace-path=/run/netns/${namespace}`,
    ...image.env.map((one) => `--setenv=${one}`),
    `--setenv=SVC_URL=https://${HOST}`,
    '--',
    ...image.entrypoint,
  ])
  try {
    const environment = [...image.env, `SVC_URL=https://${HOST}`].join(' ')
    const health = `setpriv --reuid=${image.user} --regid=${image.user} --clear-groups env -i PATH=$PATH ${environment} ${image.healthcheck.join(' ')}`
    await expectIn(machine, health, 'svc-relay: ok')
    const local = curl(`https://${HOST}/api/healthz`).replace(CA, `${image.volume}/fullchain.pem`)
    await expectIn(machine, `${local} --resolve ${HOST}:443:127.0.0.1`, '"status":"ok"')
    await machine.sh('! touch /usr/written 2> /dev/null')
  } catch (error) {
    const printed = await machine.end()
    throw new Error(`${(error as Error).message}\nThe container printed:\n${printed}`)
  }
  await machine.end()
}

async function expectIn(machine: Machine, script: string, expected: string): Promise<void> {
  const text = await machine.eventually(script)
  if (!text.includes(expected)) throw new Error(`"${expected}" is not in: ${text}`)
}

function parse(dockerfile: string): Image {
  const lines = dockerfile
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const all = (instruction: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${instruction} `))
      .map((line) => line.slice(instruction.length + 1))
  const one = (instruction: string): string => {
    const [value] = all(instruction)
    if (value === undefined) throw new Error(`the Dockerfile has no ${instruction}`)
    return value
  }
  const program = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')))
  return {
    steps: all('RUN'),
    user: one('USER'),
    env: all('ENV'),
    volume: one('VOLUME'),
    entrypoint: program(one('ENTRYPOINT')),
    healthcheck: program(one('HEALTHCHECK')),
  }
}
