// Debian's name servers and dnsperf, unpacked into a cache: nothing of them is installed.
import { type DebianPrograms, findDebianPrograms } from '../../tools/programs/debian-packages.ts'

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

/** @returns undefined where the packages cannot be had */
export function findNameServers(): DebianPrograms | undefined {
  return findDebianPrograms('dns-bench', PACKAGES)
}
