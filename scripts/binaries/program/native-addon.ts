// Loads native addons, which are assets of a single executable. The bundler puts this in place of the loaders that their
// packages have (../third-party-loaders.ts).

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { unpackAssets } from './unpack-assets.ts'

/** Variable with the path of the addon http3, for a process that may not look for it; empty where there is none. */
export const ADDON_PATH_VARIABLE = 'NAPI_RS_NATIVE_LIBRARY_PATH'

export type AddonName = 'http3' | 'bufferutil'

/** @returns its path; undefined where this program has none for this platform */
export function addonFile(name: AddonName): string | undefined {
  const file = join(unpackAssets(name), `${name}.node`)
  return existsSync(file) ? file : undefined
}

/** @throws Error where this program has no such addon for this platform */
export function loadAddon(name: AddonName): unknown {
  const path = (name === 'http3' ? process.env[ADDON_PATH_VARIABLE] : undefined) ?? addonFile(name)
  if (!path) throw new Error(`this program has no native ${name} for ${process.platform}-${process.arch}`)
  const module = { exports: {} }
  process.dlopen(module, path)
  return module.exports
}
