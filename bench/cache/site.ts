// Leaves files with a relay as a site does that is closed afterwards, and visits them.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, get } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { type NodePublishOptions, publish } from '@svc/sdk-node'
import type { BenchRelay } from '../carrier/relay.ts'
import type { ServedFile } from './files.ts'

const LOOK_MS = 20

/** @returns the canonical URL, at which the relay alone answers from now on */
export async function leaveFiles(
  relay: BenchRelay,
  name: string,
  files: readonly ServedFile[],
): Promise<string> {
  const cache = { files: new Map(files.map(({ path, content }) => [path, content])), index: files[0]!.path }
  const site = await publish({ ...(await optionsOf(relay, name)), cache })
  while (!site.cache?.present) await pause(LOOK_MS)
  const { canonicalUrl } = site
  await site.close()
  return canonicalUrl
}

/** A site that leaves nothing. */
export async function comeAndGo(relay: BenchRelay, name: string): Promise<void> {
  const site = await publish(await optionsOf(relay, name))
  await site.close()
}

/** Each name is a site of an identity of its own. */
async function optionsOf(relay: BenchRelay, name: string): Promise<NodePublishOptions> {
  const identity = crypto.getRandomValues(new Uint8Array(32))
  return { relay: relay.url, ca: await relay.ca(), name, identity, fetch: () => new Response('live') }
}

/** Asks for each file, on one connection. */
export async function visitAll(url: string, ca: string, files: readonly ServedFile[]): Promise<void> {
  const { hostname, port, host } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const options = { host: '127.0.0.1', port, servername: hostname, headers: { Host: host }, ca, agent }
  for (const { path, content } of files) {
    const [response] = (await once(get({ ...options, path: `/${path}` }), 'response')) as [IncomingMessage]
    let bytes = 0
    for await (const chunk of response) bytes += chunk.length
    if (bytes !== content.length) throw new Error(`${path} has ${bytes} bytes, ${response.statusCode}`)
  }
  agent.destroy()
}
