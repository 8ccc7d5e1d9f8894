// The local full node as a command: its ledger outlives `kill -9`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../programs/command.ts'
import { createTestWallet } from '../../sui-node/wallet.ts'
import { COIN, clientOf, execute, payment } from './support.ts'

it('keeps what it has answered, however it ends', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'sui-node-'))
  const file = path.join(folder.path, 'ledger.json')
  const [payer, payee] = [createTestWallet(), createTestWallet()]
  const first = await start('--file', file, '--fund', `${payer.address}=50000`)
  const client = clientOf(first.url)
  await execute(client, payer, await payment(payer.address, payee.address, 20_000n).build({ client }))
  await first.kill()
  const second = await start('--file', file)
  const { balance } = await clientOf(second.url).core.getBalance({ owner: payee.address, coinType: COIN })
  expect(balance.balance).toBe('20000')
  await second.kill()
})

async function start(...args: string[]): Promise<{ url: string; kill(): Promise<void> }> {
  const main = path.join(root, 'tools/sui-node/main.ts')
  const child = spawn(process.execPath, [main, '--port', '0', ...args])
  const [line] = await once(child.stdout, 'data')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { url: String(line).trim(), kill }
}
