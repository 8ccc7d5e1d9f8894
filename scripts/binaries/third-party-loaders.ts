// Replaces the loaders of third-party packages that look for files beside themselves, which a bundle does not have.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Plugin } from 'vite'
import { root } from '../../tools/programs/command.ts'

interface Replacement {
  /** End of the path of the module. */
  module: string
  from: string
  to: () => string
}

const ADDONS: string = path.join(import.meta.dirname, 'program/native-addon.ts')
const WASM = 'node_modules/@currentspace/http3/dist/wasm/http3_client.wasm'
/** The file is a tenth larger than with 11, in a twentieth of the time. */
const BROTLI_QUALITY = 9
/** Virtual module with the WebAssembly file. */
const WASM_MODULE = 'virtual:http3-client-wasm'

const REPLACEMENTS: Replacement[] = [
  {
    module: '@currentspace/http3/dist/event-loop.js',
    from: 'require(findBinding())',
    to: () => `require(${JSON.stringify(ADDONS)}).loadAddon('http3')`,
  },
  {
    module: '@currentspace/http3/dist/client-event-loop-factory.js',
    from: 'function resolveWasmArtifactPath() {',
    to: () => `function resolveWasmArtifactPath() { return ${JSON.stringify(path.basename(WASM))};`,
  },
  {
    module: '@currentspace/http3/dist/wasm/node-core-loader.js',
    from: '(0, node_fs_1.readFileSync)(path)',
    to: () => `require(${JSON.stringify(WASM_MODULE)}).read()`,
  },
  {
    module: 'bufferutil/index.js',
    from: "require('node-gyp-build')(__dirname)",
    to: () => `require(${JSON.stringify(ADDONS)}).loadAddon('bufferutil')`,
  },
]

/** @param hasWasm whether the program may need QUIC where its platform has no native addon */
export function thirdPartyLoaders(hasWasm: boolean): Plugin {
  return {
    name: 'third-party-loaders',
    enforce: 'pre',
    resolveId: (id) => (id === WASM_MODULE ? `\0${WASM_MODULE}` : undefined),
    load: (id) => (id === `\0${WASM_MODULE}` ? wasmModule(hasWasm) : undefined),
    transform(code, id) {
      const replacement = REPLACEMENTS.find(({ module }) => id.split(path.sep).join('/').endsWith(module))
      if (replacement === undefined) return undefined
      if (code.split(replacement.from).length !== 2)
        throw new Error(`${id} has not exactly one ${replacement.from}: the package has changed`)
      return { code: code.replace(replacement.from, replacement.to), map: null }
    },
  }
}

function wasmModule(hasWasm: boolean): string {
  if (!hasWasm) return "export function read() { throw new Error('this program has no WebAssembly client') }"
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
  const content = brotliCompressSync(readFileSync(path.join(root, WASM)), { params }).toString('base64')
  return `import { brotliDecompressSync } from 'node:zlib'
export const read = () => brotliDecompressSync(Buffer.from('${content}', 'base64'))`
}
