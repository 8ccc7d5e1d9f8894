// Features of handlers at `publish` and at other runtimes: `npm run interop -- handlers`. It writes its section of
// docs/internals/compatibility.md.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { publish } from '@svc/sdk-node'
import { startTestRelay } from '../../tools/relay/test-relay.ts'
import { COMPATIBILITY_PAGE, writeSection } from '../pages/section.ts'
import type { Server } from './ask.ts'
import type { Runtime } from './feature.ts'
import { FEATURES } from './features.ts'
import { asSection, type FeatureRow, RUNTIMES, unexplained } from './page.ts'
import { type Installed, install, withRuntime } from './runtimes.ts'

/** @returns whether every difference has a reason, and every reason a difference */
export async function proveHandlers(): Promise<boolean> {
  const installed = install()
  try {
    const rows = await observeAll(installed)
    writeSection(COMPATIBILITY_PAGE, 'handlers', asSection(rows, installed.versions))
    const faults = rows.flatMap(unexplained)
    for (const fault of faults) console.error(`✗ ${fault}`)
    return faults.length === 0
  } finally {
    installed.remove()
  }
}

async function observeAll({ folder }: Installed): Promise<FeatureRow[]> {
  const ours = await observePublished(folder)
  const theirs = new Map<Runtime, string[]>()
  for (const runtime of RUNTIMES) theirs.set(runtime, await withRuntime(runtime, folder, observe))
  return FEATURES.map((feature, index) => ({
    feature,
    ours: ours[index]!,
    theirs: Object.fromEntries(RUNTIMES.map((runtime) => [runtime, theirs.get(runtime)![index]!])) as Record<
      Runtime,
      string
    >,
  }))
}

async function observe(server: Server): Promise<string[]> {
  const seen: string[] = []
  for (const feature of FEATURES) seen.push(await feature.observe(server))
  return seen
}

async function observePublished(folder: string): Promise<string[]> {
  const { handle } = await import(path.join(folder, 'handler.mjs'))
  const undici = await import(path.join(folder, 'node_modules/undici/index.js'))
  const relay = await startTestRelay()
  const ca = readFileSync(relay.caFile, 'utf8')
  try {
    const site = await publish({
      relay: relay.url,
      ca,
      name: 'handlers',
      identity: crypto.getRandomValues(new Uint8Array(32)),
      // A handler that fails is told here, and not on the console.
      onSite: (made) => made.addEventListener('error', ({ error }) => void error),
      visitorAddress: true,
      fetch: (request, info) =>
        handle(request, {
          address: () => info.remote?.address,
          OtherResponse: undici.Response,
          waitUntil: (work: unknown) => info.waitUntil(work),
          upgrade: () => {
            const { socket, response } = info.upgrade(request)
            socket.addEventListener('message', ({ data }) => socket.send(data))
            return response
          },
        }),
    })
    try {
      const { host } = new URL(site.url)
      return await observe({ port: Number(new URL(relay.url).port), host, ca })
    } finally {
      await site.close()
    }
  } finally {
    await relay.stop()
  }
}
