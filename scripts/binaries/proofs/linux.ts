// Linux executables run: `svc` publishes services that curl and UDP visitors reach, and `svc-relay` serves a site.
import { equal } from 'node:assert/strict'
import { createReadStream, createWriteStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { root } from '../../../tools/programs/command.ts'
import { unpackDebianPackages } from '../../../tools/programs/debian-packages.ts'
import { startTestRelay } from '../../../tools/relay/test-relay.ts'
import { visitExposed, visitExposedUdp } from '../exposed-site.ts'
import type { Built, Proof, Proofs } from './proof.ts'
import { udpSettings } from './udp-settings.ts'

const EXECUTABLE_MODE = 0o755
const TEXT = 'from a local service'
/** Milliseconds for a start under the emulator, on a machine that may have other work. */
const START_TIMEOUT_MS: number = 2 * 60_000
const PACKAGES = ['qemu-user-static', 'libc6', 'libstdc++6', 'libatomic1', 'libgcc-s1'].map((name, index) =>
  index === 0 ? name : `${name}-arm64-cross`,
)
const SVC = [process.execPath, path.join(root, 'sdk-node/src/cli/main.ts')]

export const proveOnLinux: Proof = {
  install: 'a Linux machine on x86-64',
  prepare: async (built: Built) => {
    if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
    return { version: process.version, proofs: await proofs(built, [], { SVC_WORKERS: '2', UDP: 'true' }) }
  },
}

/** The emulator runs no child process of an executable, so the relay has neither workers nor UDP here. */
export const proveUnderQemu: Proof = {
  install: `apt-get update, and then apt-get download ${PACKAGES.join(' ')}`,
  prepare: async (built: Built) => {
    if (process.platform !== 'linux') return undefined
    const unpacked = unpackDebianPackages('qemu-aarch64', PACKAGES)
    if (unpacked === undefined) return undefined
    const emulator = path.join(unpacked, 'usr/bin/qemu-aarch64-static')
    const libraries = path.join(unpacked, 'usr/aarch64-linux-gnu')
    return { version: 'under qemu-aarch64', proofs: await proofs(built, [emulator, '-L', libraries], {}) }
  },
}

async function proofs(
  { svc: compressed, relay, directory }: Built,
  emulator: readonly string[],
  { UDP, ...settings }: Record<string, string>,
): Promise<Proofs> {
  const svc = path.join(directory, path.basename(compressed, '.gz'))
  const output = createWriteStream(svc, { mode: EXECUTABLE_MODE })
  await pipeline(createReadStream(compressed), createGunzip(), output)
  const run = [...emulator, svc]
  return {
    'svc expose': async () => {
      await using own = await startTestRelay().then(disposable)
      equal(await visitExposed(run, own.relay), TEXT)
    },
    'svc expose --udp': async () => {
      await using own = await startTestRelay({ env: await udpSettings() }).then(disposable)
      equal(await visitExposedUdp(run, own.relay), `hello ${TEXT}`)
    },
    'svc-relay': async () => {
      const env = { ...settings, ...(UDP && (await udpSettings())), XDG_CACHE_HOME: directory }
      await using own = await startTestRelay({
        env,
        program: [...emulator, relay],
        startTimeoutMs: START_TIMEOUT_MS,
      }).then(disposable)
      equal(await visitExposed(SVC, own.relay), TEXT)
      if (UDP) equal(await visitExposedUdp(SVC, own.relay), `hello ${TEXT}`)
    },
  }
}

function disposable(relay: Awaited<ReturnType<typeof startTestRelay>>) {
  return { relay, [Symbol.asyncDispose]: () => relay.stop() }
}
