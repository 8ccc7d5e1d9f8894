// `npm run deb [-- amd64 arm64]`: makes the Debian packages svc-relay and svc in artifacts/deb, from the executables of
// `npm run binaries`. SOURCE_DATE_EPOCH sets the time of all files; without it that is the time of the last commit.
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { root } from '../tools/programs/command.ts'
import { buildPackage } from './deb/build-package.ts'
import { type Architecture, commandPackage, relayPackage } from './deb/packages.ts'

const ARCHITECTURES: readonly Architecture[] = ['amd64', 'arm64']
const OUTPUT = path.join(root, 'artifacts/deb')

const wanted = process.argv.slice(2)
if (wanted.some((name) => !ARCHITECTURES.some((one) => one === name))) usage()
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
const time = sourceTime()
const help = { relay: helpOf('relay/src/main.ts'), command: helpOf('sdk-node/src/cli/main.ts') }
for (const architecture of wanted.length > 0 ? (wanted as Architecture[]) : ARCHITECTURES) {
  const release = { version, time, architecture }
  const relay = readArtifact(`artifacts/relay/svc-relay-linux-${architecture}`)
  const bundle = readArtifact('artifacts/install/bin/svc.mjs.gz')
  const command = gunzipSync(readArtifact(`artifacts/install/bin/linux-${architecture}.gz`))
  for (const made of [
    relayPackage(release, { executable: relay, help: help.relay }, bundle),
    commandPackage(release, { executable: command, help: help.command }),
  ]) {
    const file = await buildPackage(made, OUTPUT, time)
    console.log(`${path.relative(root, file)} (${megabytes(statSync(file).size)} MB)`)
  }
}

function readArtifact(file: string): Buffer {
  try {
    return readFileSync(path.join(root, file))
  } catch {
    console.error(`${file} is missing: npm run binaries makes it`)
    process.exit(1)
  }
}

function helpOf(main: string): string {
  return execFileSync(process.execPath, [path.join(root, main), '--help'], { encoding: 'utf8' })
}

function sourceTime(): number {
  const { SOURCE_DATE_EPOCH } = process.env
  const text =
    SOURCE_DATE_EPOCH || execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  const time = Number(text)
  if (Number.isInteger(time) && time > 0) return time
  console.error(`SOURCE_DATE_EPOCH: "${text}" is not a number of seconds since 1970`)
  process.exit(1)
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}

function usage(): never {
  console.error(`Usage: npm run deb [-- ${ARCHITECTURES.join(' | ')} …]`)
  process.exit(2)
}
