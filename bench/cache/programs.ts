// Debian's nginx and h2load, unpacked into a cache: nothing of them is installed.
import { type DebianPrograms, findDebianPrograms } from '../../tools/programs/debian-packages.ts'

export const INSTALL = 'a machine with apt (Debian nginx, nghttp2-client)'

const PACKAGES = [
  'libc-ares2',
  'libev4',
  'libjansson4',
  'libjemalloc2',
  'libnghttp2-14',
  'libpcre2-8-0',
  'libxml2',
  'nghttp2-client',
  'nginx',
]

/** @returns undefined where the packages cannot be had */
export function findWebPrograms(): DebianPrograms | undefined {
  return findDebianPrograms('cache-bench', PACKAGES)
}
