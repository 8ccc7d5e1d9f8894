// Commands of the repository: their priority, and their end with the program that runs them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { root, runCommand } from '../../programs/command.ts'

const LIMITS = { timeoutMs: 60_000, quiet: true }

test('a command in the background has the lowest priority, and so has what it starts', async () => {
  const [node, tell] = [JSON.stringify(process.execPath), "console.log(require('node:os').getPriority())"]
  const nested = `require('node:child_process').spawnSync(${node}, ['-e', ${JSON.stringify(tell)}], { stdio: 'inherit' })`
  const { output } = await runCommand([process.execPath, '-e', `${tell};${nested}`], {
    ...LIMITS,
    isBackground: true,
  })
  const lowest = constants.priority.PRIORITY_LOW
  expect(output).toBe(`${lowest}\n${lowest}\n`)
})

test('a signal ends all commands that run side by side', async () => {
  const command = path.join(root, 'tools/programs/command.ts')
  const wait = 'console.log(process.pid); setInterval(() => {}, 1000)'
  const run = `runCommand([process.execPath, '-e', ${JSON.stringify(wait)}], { timeoutMs: 60_000 })`
  const script = `import { runCommand } from ${JSON.stringify(command)}; await Promise.all([${run}, ${run}])`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pids: number[] = []
  for await (const line of createInterface(child.stdout)) if (pids.push(Number(line)) === 2) break
  child.kill('SIGTERM')
  await once(child, 'exit')
  for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
