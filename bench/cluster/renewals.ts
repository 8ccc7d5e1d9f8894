// Counts the commands that a renewal costs Redis: those that the machine sends, and those that scripts run inside.
import { readFile } from 'node:fs/promises'
import { PATH, type RegisterResponse } from '@svc/protocol'
import { dataOf, newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import type { Machines } from '../../tools/relay/machines.ts'
import { compared, type Entry, limited } from '../lib/entry.ts'
import { watchRedis } from './redis-watch.ts'

const LEASES = 50
const ROUNDS = 4
const RENEWALS: number = LEASES * ROUNDS
const SENT_MAX = 3

export async function* renewals({ url, caFile, redis }: Machines): AsyncGenerator<Entry> {
  const api = new RelayApi(url, await readFile(caFile, 'utf8'), 4)
  const leases: RegisterResponse[] = []
  for (let index = 0; index < LEASES; index++)
    leases.push(await api.register(newIdentity(), `renewed-${index}`))
  const renewAll = async (): Promise<void> => {
    for (const { access_token } of leases) dataOf(await api.post(PATH.renew, { access_token, ttl: 600 }))
  }
  // The first renewal of each lease at a machine renews the way from its name to it as well.
  for (let round = 0; round < ROUNDS; round++) await renewAll()
  const operations = await watchRedis(redis, async () => {
    for (let round = 0; round < ROUNDS; round++) await renewAll()
  })
  api.close()
  const sent = operations.sent / RENEWALS
  yield limited(
    { name: 'redis operations of a renewal, sent', unit: 'commands', better: 'less' },
    sent,
    SENT_MAX,
  )
  const inside = {
    name: 'redis operations of a renewal, inside scripts',
    unit: 'commands',
    better: 'less',
  } as const
  yield compared({ ...inside, peer: 'sent', target: null }, operations.inside / RENEWALS, sent)
}
