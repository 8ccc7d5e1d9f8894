// Many identities from a couple of dozen addresses store snapshots of one byte, more than the static cache has room for, each
// address of another network: the snapshot of a site that is away stays.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import { HEADER, PATH, type RegisterResponse } from '@svc/protocol'
import { newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import type { ClientAttack, Facts } from './attack.ts'
import type { Target } from './target.ts'

const ADDRESSES = 24
const SNAPSHOTS = 200
/** The relay takes two uploads at once, and refuses more. */
const AT_A_TIME = 2
const VICTIM = 'files of a site that is away'

export const attack: ClientAttack = {
  by: 'clients',
  what: 'two dozen addresses fill the static cache with snapshots of one byte',
  seconds: 40,
  sliceSeconds: 10,
  least: { 'snapshots stored': 129 },
  most: { 'snapshots of others that are gone': 0 },
  run,
}

async function run(target: Target, begin: () => number): Promise<Facts> {
  const victim = await store(target, '127.1.0.1', 'away', VICTIM)
  const until = begin()
  let next = 0
  let stored = 0
  const storer = async (): Promise<void> => {
    while (next < SNAPSHOTS && Date.now() < until) {
      const number = next++
      const address = `127.2.${number % ADDRESSES}.1`
      if (await store(target, address, `one-byte-${number}`, '.')) stored += 1
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, storer))
  const isThere = victim !== undefined && (await pageOf(target, victim.canonical_hostname)) === VICTIM
  return { 'snapshots stored': stored, 'snapshots of others that are gone': isThere ? 0 : 1 }
}

/** Registers, stores a page, and goes away. @returns undefined when the relay did not take it */
async function store(
  target: Target,
  localAddress: string,
  name: string,
  content: string,
): Promise<RegisterResponse | undefined> {
  const api = new RelayApi(target.url, target.ca, 1, localAddress)
  try {
    const lease = await api.register(newIdentity(), name, { cache: true })
    const { access_token } = lease
    const form = new Response(formOf(content))
    const { status } = await api.send('PUT', PATH.cache, Buffer.from(await form.arrayBuffer()), {
      [HEADER.accessToken]: access_token,
      'Content-Type': form.headers.get('content-type')!,
    })
    await api.post(PATH.unregister, { access_token })
    return status === 200 ? lease : undefined
  } finally {
    api.close()
  }
}

function formOf(content: string): FormData {
  const sha256 = createHash('sha256').update(content).digest('hex')
  const manifest = { index: 'index.html', files: [{ path: 'index.html', size: content.length, sha256 }] }
  const form = new FormData()
  form.append('manifest', JSON.stringify(manifest))
  form.append('object', new Blob([content]), 'object')
  return form
}

/** @returns undefined when the relay does not end TLS for the hostname */
async function pageOf({ port, ca }: Target, hostname: string): Promise<string | undefined> {
  const address = { host: '127.0.0.1', servername: hostname, port, ca, agent: false }
  const asked = request({ ...address, headers: { Host: `${hostname}:${port}` } })
  asked.end()
  try {
    const [response] = await once(asked, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  } catch {
    return undefined
  }
}
