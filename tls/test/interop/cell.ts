// One cell of the matrix: a client, a column, and a server of their own.

import { strictEqual as equal, ok } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { ServerConfig } from '../../src/index.ts'
import type { Exchange, Runner } from './client.ts'
import { type Column, checkExchange } from './columns.ts'
import type { Credentials } from './credentials.ts'
import { startProxy } from './proxy.ts'
import { type Site, startSite } from './site.ts'

/** One exchange; gnutls-cli, which writes the large body byte by byte, takes the longest. */
export const CELL_TIMEOUT_MS = 90_000
const RESPONSE_BYTES = 64

/** @throws Error that says what was not as it should be */
export async function runCell(runner: Runner, column: Column, credentials: Credentials): Promise<void> {
  const { promise: asked, resolve: ask } = Promise.withResolvers<AbortSignal>()
  const silent: Partial<ServerConfig> = {
    sign: (_, signal) => {
      ask(signal)
      return new Promise(() => {})
    },
  }
  const config: ServerConfig = {
    ...credentials.servers[column.server?.key ?? 'ec'],
    alpn: ['http/1.1'],
    ...(column.server?.limits !== undefined && { limits: column.server.limits }),
    ...(column.leaves && silent),
  }
  const resource = new Uint8Array(randomBytes(column.responseBytes ?? RESPONSE_BYTES))
  const site = await startSite(config, resource)
  const proxy = column.cut && (await startProxy(site.port, column.cut))
  const exchange = runner.exchange({
    ...column.wishes,
    port: proxy?.port ?? site.port,
    ...(column.upload !== undefined && { upload: column.upload }),
  })
  // Whoever stops waiting for it does not want to hear of it.
  exchange.outcome.catch(() => {})
  try {
    await inTime(
      column.leaves ? checkLeaving(site, exchange, asked) : check(site, exchange, column, resource),
    )
  } finally {
    exchange.leave()
    proxy?.close()
    site.close()
  }
}

async function check(site: Site, exchange: Exchange, column: Column, resource: Uint8Array): Promise<void> {
  const outcome = await exchange.outcome
  if (site.served.length === 0)
    throw new Error(`no request came: ${await serverErrors(site)}\n${outcome.log}`)
  checkExchange(column, site.served, outcome, resource)
}

async function serverErrors({ sessions }: Site): Promise<string> {
  const closed = sessions.map(async ({ closed, socket }) => {
    socket.destroy()
    return (await closed)?.message ?? 'no error'
  })
  return (await Promise.all(closed)).join(', ') || 'nobody connected'
}

async function checkLeaving(site: Site, exchange: Exchange, asked: Promise<AbortSignal>): Promise<void> {
  const gone = exchange.outcome.then(({ log }) => Promise.reject(new Error(`it did not wait\n${log}`)))
  const signal = await Promise.race([asked, gone])
  exchange.leave()
  const error = await site.sessions[0]!.closed
  equal(error?.code, 'truncated')
  ok(signal.aborted, 'the signer was not told')
}

async function inTime(work: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`nothing after ${CELL_TIMEOUT_MS / 1000} s`)),
    CELL_TIMEOUT_MS,
  )
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
