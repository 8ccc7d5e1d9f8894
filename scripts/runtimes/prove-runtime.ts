// One runtime publishes by a package: a GET and a POST are answered, and the site closes when it is asked to.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { curl } from '../../tools/programs/curl.ts'
import { endServer, spawnServer } from '../../tools/programs/server-process.ts'
import type { Runtime } from './runtimes.ts'

/** Milliseconds after which a runtime is killed that hangs: it is done within a second or two. */
const PROOF_TIMEOUT_MS: number = 2 * 60_000

export interface Relay {
  url: string
  caFile: string
}

interface Said {
  url?: string
  state?: string
  code?: string
  message?: string
}

/**
 * @param folder where the packages and the runtimes are installed, with site.mjs
 * @returns what happened, in words of the table
 * @throws Error when something else happened than `runtime` says
 */
export async function proveRuntime(
  runtime: Runtime,
  folder: string,
  relay: Relay,
  name: string,
): Promise<string> {
  const [program = '', ...args] = runtime.command(folder)
  const site = [path.join(folder, 'site.mjs'), runtime.sdk, relay.url, name]
  const { caFile } = relay
  const child = spawnServer(
    program,
    [...args, ...site, ...(runtime.sdk === '@svc/sdk-node' ? [caFile] : [])],
    {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile, ...runtime.env },
    },
  )
  const timer = setTimeout(() => child.kill('SIGKILL'), PROOF_TIMEOUT_MS)
  try {
    const next = lines(child)
    const first = await next()
    const { code, message, url } = first
    if (runtime.refuses !== undefined) {
      if (code !== runtime.refuses) throw new Error(JSON.stringify(first))
      return `\`${code}\`: ${message}`
    }
    if (url === undefined) throw new Error(`${code}: ${message}`)
    await visit(url, caFile)
    child.stdin!.end()
    const { state } = await next()
    if (state !== 'closed') throw new Error(`the site is ${state}`)
    return 'works'
  } finally {
    clearTimeout(timer)
    await endServer(child)
  }
}

/** A GET and a POST. @throws Error when an answer is another one */
export async function visit(url: string, caFile: string): Promise<void> {
  const answers = [await curl(caFile, url), await curl(caFile, '--data-binary', 'hello', url)].map(String)
  if (answers.join() !== 'GET ,POST hello') throw new Error(`it answers ${JSON.stringify(answers)}`)
}

/** @returns a function for the next line that the site says; it rejects when the process ended without one */
function lines(child: ChildProcess): () => Promise<Said> {
  let said = ''
  child.stderr!.on('data', (bytes: Buffer) => {
    said = `${said}${bytes}`.slice(-1000)
  })
  const read = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const failed = once(child, 'error').then(([error]) => {
    throw error
  })
  failed.catch(() => {})
  return async () => {
    const { value, done } = await Promise.race([read.next(), failed])
    if (done) throw new Error(`it ended: ${said}`)
    return JSON.parse(value)
  }
}
