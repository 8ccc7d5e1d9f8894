// Debian's name servers and dnsperf, unpacked into a cache: nothing of them is installed.
import path from 'node:path'
import { unpackDebianPackages } from '../../tools/programs/debian-packages.ts'

export const INSTALL = 'a machine with apt (Debian nsd, knot, dnsperf)'

const PACKAGES = [
  'bind9-libs',
  'bind9-utils',
  'dnsperf',
  'knot',
  'libbpf1',
  'libcap-ng0',
  'libdnssec9',
  'libedit2',
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
  'liburcu8',
  'libuv1',
  'libxdp1',
  'libzscanner4',
  'nsd',
]

export interface Debian {
  /** The path of a program. */
  pathOf(program: string): string
  env: NodeJS.ProcessEnv
}

/** @returns undefined where the packages cannot be had */
export function findDebian(): Debian | undefined {
  const unpacked = unpackDebianPackages('dns-bench', PACKAGES)
  if (unpacked === undefined) return undefined
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const folder = (program: string): string => (['nsd', 'knotd'].includes(program) ? 'sbin' : 'bin')
  return {
    pathOf: (program) => path.join(unpacked, 'usr', folder(program), program),
    env: { ...process.env, LD_LIBRARY_PATH: path.join(unpacked, `usr/lib/${machine}-linux-gnu`) },
  }
}
