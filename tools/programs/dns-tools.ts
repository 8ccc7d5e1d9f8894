// Runs Debian's DNS programs: validators, clients and signers of bind9, ldns, knot, nsd and unbound.
import { execFile } from 'node:child_process'
import { type DebianPrograms, findDebianPrograms } from './debian-packages.ts'

export interface DnsTools extends DebianPrograms {
  /** Runs a program to its end. @returns both its outputs, and its exit code */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<ToolResult>
}

interface RunOptions {
  cwd?: string
  /** What the program reads from its standard input. */
  input?: string
}

interface ToolResult {
  output: string
  code: number
}

const PACKAGES = [
  'bind9',
  'bind9-dnsutils',
  'bind9-libs',
  'bind9-utils',
  'knot-dnsutils',
  'ldnsutils',
  'libbpf1',
  'libdnssec9',
  'libevent-2.1-7',
  'libfstrm0',
  'libjemalloc2',
  'libjson-c5',
  'libknot13',
  'libldns3',
  'liblmdb0',
  'libmaxminddb0',
  'libnghttp2-14',
  'libprotobuf-c1',
  'libpython3.11',
  'libpython3.11-minimal',
  'libpython3.11-stdlib',
  'libuv1',
  'libxdp1',
  'libzscanner4',
  'nsd',
  'unbound',
] as const
const TIMEOUT_MS = 60_000

/** @returns undefined where the packages cannot be had */
export function findDnsTools(): DnsTools | undefined {
  const programs = findDebianPrograms('dnssec-tools', PACKAGES)
  if (programs === undefined) return undefined
  const { env, pathOf } = programs
  return { env, pathOf, run: (program, args, options) => run(pathOf(program), args, env, options) }
}

async function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { cwd, input = '' }: RunOptions = {},
): Promise<ToolResult> {
  return await new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { cwd, env: { ...process.env, ...env }, timeout: TIMEOUT_MS },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? -1)
        resolve({ output: stdout + stderr, code })
      },
    )
    // A program that reads nothing may have ended.
    child.stdin!.on('error', () => {})
    child.stdin!.end(input)
  })
}
