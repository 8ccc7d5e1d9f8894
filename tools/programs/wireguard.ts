// Finds the programs of the tests that link relays: iproute2, nftables, WireGuard in user space with its tools, iperf3, tcpdump.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { findDebianPrograms } from './debian-packages.ts'

const PROGRAMS = ['ip', 'nft', 'wg', 'wireguard-go', 'iperf3', 'tcpdump'] as const
const PACKAGES = [
  'iperf3',
  'iproute2',
  'libbpf1',
  'libbsd0',
  'libcap2',
  'libdbus-1-3',
  'libedit2',
  'libelf1',
  'libibverbs1',
  'libgmp10',
  'libiperf0',
  'libjansson4',
  'libmd0',
  'libmnl0',
  'libnftables1',
  'libnftnl11',
  'libnl-3-200',
  'libnl-route-3-200',
  'libpcap0.8',
  'libsctp1',
  'libtirpc3',
  'libxtables12',
  'nftables',
  'tcpdump',
  'wireguard-go',
  'wireguard-tools',
] as const

/** Variables with which processes find the programs by their names, beside those of this process. */
export type ProgramPaths = Readonly<Record<string, string>>

let found: { env: ProgramPaths | undefined } | undefined

/** @returns undefined where the machine lacks one of the programs, and the packages cannot be had */
export function findWireGuardPrograms(): ProgramPaths | undefined {
  found ??= { env: PROGRAMS.every(isInstalled) ? {} : unpackedPrograms() }
  return found.env
}

function unpackedPrograms(): ProgramPaths | undefined {
  const programs = findDebianPrograms('wireguard', PACKAGES)
  if (programs === undefined) return undefined
  // Debian keeps `ip`, and some libraries, outside of usr.
  const unpacked = path.dirname(path.dirname(path.dirname(programs.pathOf('wg'))))
  const folders = ['bin', 'sbin', 'usr/bin', 'usr/sbin'].map((folder) => path.join(unpacked, folder))
  const usrLibraries = programs.env.LD_LIBRARY_PATH ?? ''
  const libraries = [usrLibraries, path.join(unpacked, 'lib', path.basename(usrLibraries))]
  return {
    LD_LIBRARY_PATH: libraries.join(path.delimiter),
    PATH: [...folders, process.env.PATH].join(path.delimiter),
  }
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .some((folder) => existsSync(path.join(folder, program)))
}
