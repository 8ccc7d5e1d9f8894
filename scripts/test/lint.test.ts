// The rules of scripts/lint and the globals of biome.json: every rule catches what it forbids.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')

const WEB = 'web-standard APIs only, no node: module'
const ONE_IMPORTER = 'A third-party library has one importer'

const PIPELINE = 'pipe() leaves its source open'
const OUTBOUND = 'with the HttpClient of outbound'
const REALMS = 'ask what the value can do'

/** File, what it says, and what the linter must say of it. */
const FORBIDDEN: [file: string, code: string, message: string][] = [
  ['payment/src/b.ts', "export { x } from 'node:fs'", WEB],
  ['payment/src/sui/a.ts', "export { bcs } from '@mysten/sui/bcs'", ONE_IMPORTER],
  ['relay/web/src/c.ts', "export { x } from 'node:path'", WEB],
  ['sdk-node/web/src/c.ts', "export { x } from 'node:path'", WEB],
  ['sdk-node/web/src/d.tsx', "export { render } from 'preact'", ONE_IMPORTER],
  ['relay/web/src/shell/a.tsx', "export { render } from 'preact'", ONE_IMPORTER],
  ['relay/web/src/admin/a.tsx', "export { default } from 'uplot'", ONE_IMPORTER],
  ['relay/web/src/landing/a.tsx', "export { encode } from 'uqr'", ONE_IMPORTER],
  ['protocol/src/b.ts', "export { x } from 'node:path'", WEB],
  ['yamux/src/b.ts', "export { x } from 'node:stream'", WEB],
  ['tls/src/crypto/a.ts', "export { x } from 'node:crypto'", WEB],
  ['sdk-core/src/c.ts', "export const fs = await import('node:fs')", WEB],
  ['sdk-browser/src/c.ts', "export const fs = await import('node:fs')", WEB],
  ['sdk-browser/src/adapters/a.ts', "export { build } from 'vite'", ONE_IMPORTER],
  ['sdk-browser/src/adapters/c.ts', "export type { Preset } from '@react-router/dev/config'", ONE_IMPORTER],
  ['sdk-browser/src/adapters/d.ts', "export type { AstroConfig } from 'astro'", ONE_IMPORTER],
  ['sdk-browser/src/adapters/b.ts', "export type { Adapter } from '@sveltejs/kit'", ONE_IMPORTER],
  ['tls/src/record/a.ts', "export { x } from '@noble/ciphers/aes.js'", ONE_IMPORTER],
  ['sdk-core/src/control/a.ts', "export { x } from '@noble/hashes/sha2.js'", ONE_IMPORTER],
  ['sdk-core/src/carrier/b.ts', "export { default } from 'isomorphic-ws'", ONE_IMPORTER],
  ['sdk-core/src/handlers/a.ts', "export { lookup } from 'mrmime'", ONE_IMPORTER],
  ['sdk-core/src/inspector/a.ts', "export { toJson } from '@bufbuild/protobuf'", ONE_IMPORTER],
  ['sdk-core/src/websocket/a.ts', "export { Inflate } from 'pako'", ONE_IMPORTER],
  ['sdk-node/src/cli/a.ts', "export { Command } from 'commander'", ONE_IMPORTER],
  ['sdk-node/src/cli/config/template.ts', "export { parse } from '@decimalturn/toml-patch'", ONE_IMPORTER],
  ['sdk-node/src/cli/tui/view.ts', "export { encode } from 'uqr'", ONE_IMPORTER],
  ['sdk-node/src/identity/identity-file.ts', "export { x } from 'viem/accounts'", ONE_IMPORTER],
  ['sdk-node/src/target/a.ts', "export { WebSocket } from 'ws'", ONE_IMPORTER],
  ['relay/src/core/auth/relay-identity.ts', "export { x } from 'node-forge'", ONE_IMPORTER],
  ['relay/src/features/acme/order.ts', "export { Client } from 'acme-client'", ONE_IMPORTER],
  ['relay/src/d.ts', "export { pino } from 'pino'", ONE_IMPORTER],
  ['relay/src/features/installer/installer.ts', "export { lookup } from 'mrmime'", ONE_IMPORTER],
  [
    'relay/src/features/datagrams/a.ts',
    "export const quic = await import('@currentspace/http3')",
    ONE_IMPORTER,
  ],
  ['relay/src/core/lease/a.ts', "export { x } from 'viem/accounts'", ONE_IMPORTER],
  ['relay/src/f.ts', "export { Registry } from 'prom-client'", ONE_IMPORTER],
  ['relay/src/core/api/b.ts', "export { WebSocket } from 'ws'", ONE_IMPORTER],
  ['relay/src/core/config/settings.ts', "export { z } from 'zod'", ONE_IMPORTER],
  ['yamux/src/c.ts', "export { x } from 'any-other-library'", ONE_IMPORTER],
  ['relay/src/core/api/c.ts', 'export const x = (a, b) => a.pipe(b)', PIPELINE],
  ['relay/src/i.ts', "open(name).on('error', fail).pipe(response, { end: false })", PIPELINE],
  ['relay/src/j.ts', "export const x = await fetch('https://a.example', { method: 'POST' })", OUTBOUND],
  [
    'relay/src/k.ts',
    "import { type Server, request as ask } from 'node:https'\nexport const x: Server = ask",
    OUTBOUND,
  ],
  ['tls/src/c.ts', 'export const x = (y) => y instanceof Promise', REALMS],
  ['sdk-core/src/e.ts', 'if (!(x instanceof globalThis.Response)) throw y', REALMS],
  ['sdk-browser/src/i.ts', 'export const x = (y) => y instanceof Uint8Array', REALMS],
  ['tls/src/b.ts', 'export const x = Buffer.alloc(1)', 'Do not use the global variable Buffer'],
  ['yamux/src/d.ts', 'export const x = process.env', 'Do not use the global variable process'],
  ['sdk-core/src/d.ts', 'export const x = window.name', 'Do not use the global variable window'],
  ['sdk-browser/src/e.ts', 'export const x = document.title', 'Do not use the global variable document'],
  [
    'sdk-browser/src/f.ts',
    'export const x = localStorage.length',
    'Do not use the global variable localStorage',
  ],
]

const ALLOWED: [file: string, code: string][] = [
  [
    'relay/src/core/keyless/ok.ts',
    "export { parse } from '@svc/tls/messages'\nexport { x } from 'node:crypto'",
  ],
  ['relay/src/core/reverse/ok.ts', "export { WebSocket } from 'ws'\nexport * from '../lease/ok.ts'"],
  ['relay/src/core/log/log.ts', "export { pino } from 'pino'"],
  ['relay/src/features/datagrams/quic.ts', "export const quic = await import('@currentspace/http3')"],
  ['sdk-core/src/access/oidc/issuer.ts', "export { discovery } from 'openid-client'"],
  [
    'sdk-core/src/inspector/protobuf/library.ts',
    "export { toJson } from '@bufbuild/protobuf'\nexport { BinaryReader } from '@bufbuild/protobuf/wire'",
  ],
  ['payment/src/sui/libraries.ts', "export { x } from '@x402/core'\nexport { bcs } from '@mysten/sui/bcs'"],
  ['tls/src/crypto/ok.ts', "export { x } from '@noble/hashes/sha2.js'"],
  ['sdk-core/src/carrier/websocket-transport.ts', "export { default } from 'isomorphic-ws'"],
  [
    'sdk-core/src/ok.ts',
    "export * from '@svc/yamux'\nexport * from '@svc/tls'\nexport * from '@svc/protocol'",
  ],
  ['sdk-browser/src/adapters/ok.ts', "export * from './a.ts'\nexport { x } from 'node:path'"],
  ['sdk-browser/src/adapters/bundle-server.ts', "export { build } from 'vite'"],
  ['sdk-browser/src/adapters/react-router.ts', "export type { Preset } from '@react-router/dev/config'"],
  ['sdk-browser/src/adapters/astro.ts', "export type { AstroConfig } from 'astro'"],
  ['sdk-browser/src/adapters/sveltekit.ts', "export type { Adapter } from '@sveltejs/kit'"],
  ['sdk-node/src/cli/options/command-line.ts', "export { Command } from 'commander'"],
  ['node-kit/src/mnemonic.ts', "export { x } from 'viem/accounts'"],
  ['sdk-node/src/target/websocket-proxy.ts', "export { WebSocket } from 'ws'"],
  ['sdk-browser/src/ok.ts', "export * from '@svc/sdk-core/handlers'"],
  ['sdk-node/src/ok.ts', "export { publishOn } from '@svc/sdk-core'\nexport { x } from 'node:fs'"],
  [
    'sdk-node/web/src/tunnels/ok.ts',
    "export * from '@svc/relay-web/preact.ts'\nexport * from '../../../src/agent/api-messages.ts'",
  ],
  ['relay/web/src/preact.ts', "export { render } from 'preact'\nexport { useState } from 'preact/hooks'"],
  ['relay/web/src/admin/chart.ts', "export { default } from 'uplot'"],
  ['relay/web/src/common/qr.tsx', "export { encode } from 'uqr'"],
  ['relay/web/src/ok.ts', "export * from '@svc/sdk-browser/handlers'\nexport * from '@svc/protocol'"],
  ['relay/test/ok.ts', "export { Server } from '@svc/tls'"],
  ['relay/src/core/bridge/ok.ts', 'await pipe(client, stream)'],
  ['relay/src/core/outbound/ok.ts', "import { request } from 'node:https'\nexport const x = request"],
  [
    'relay/src/features/static-cache/live-site/agent.ts',
    "import { request } from 'node:http'\nexport const x = request",
  ],
  [
    'relay/src/ok.ts',
    "import { createServer } from 'node:http'\nexport const x = (site) => site.fetch(createServer())",
  ],
  ['sdk-core/src/handlers/ok.ts', 'export const x = (y) => y instanceof SvcError'],
  ['e2e/ok.ts', "export * from '@svc/relay'\nexport * from '@svc/sdk-browser'"],
]

let checkout: string
let diagnostics: { file: string; message: string }[]

beforeAll(() => {
  checkout = mkdtempSync(path.join(tmpdir(), 'svc-lint-'))
  for (const file of ['biome.json', 'scripts/lint'])
    cpSync(path.join(root, file), path.join(checkout, file), { recursive: true })
  for (const [file, code] of [...FORBIDDEN, ...ALLOWED]) {
    mkdirSync(path.dirname(path.join(checkout, file)), { recursive: true })
    writeFileSync(path.join(checkout, file), `${code}\n`)
  }
  diagnostics = lint()
})

afterAll(() => rmSync(checkout, { recursive: true }))

function lint(): { file: string; message: string }[] {
  const biome = path.join(root, 'node_modules/.bin/biome')
  const args = ['lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=github', '.']
  const { stdout } = spawnSync(biome, args, { cwd: checkout, encoding: 'utf8', timeout: 60_000 })
  const annotation = /^::error .*?file=([^,]+),.*?::(.*)$/gm
  return [...stdout.matchAll(annotation)].map(([, file = '', message = '']) => ({
    file: path.relative(checkout, path.resolve(checkout, file)),
    message,
  }))
}

test.each(FORBIDDEN)('%s may not say: %s', (file, _code, message) => {
  expect(diagnostics.filter((one) => one.file === file).map((one) => one.message)).toEqual([
    expect.stringContaining(message),
  ])
})

test.each(ALLOWED)('%s may say: %s', (file) => {
  expect(diagnostics.filter((one) => one.file === file)).toEqual([])
})
