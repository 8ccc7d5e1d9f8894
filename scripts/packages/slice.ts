// The part `packages` of `npm run nightly`: packs the packages, lets publint and arethetypeswrong judge the tarballs, type-checks programs
// against them, and starts both commands from them, outside the checkout and without a network.
import { checkTarball } from './check.ts'
import { type CommandLine, pathWith, proveExpose, proveInstaller, startPackagedRelay } from './commands.ts'
import { type Consumer, linkedConsumer } from './consumer.ts'
import { packPackages, type Tarball } from './pack.ts'
import { FEW_CHECKS, typeCheck } from './type-check.ts'

const tarballs = await packPackages()
const consumer = await linkedConsumer(tarballs)
try {
  // the first keeps this process busy, the others are processes of their own
  const judged = [judge(tarballs), checkPrograms(consumer)]
  const proved = proveCommands(consumer)
  await Promise.allSettled([...judged, proved])
  const findings = (await Promise.all(judged)).flat()
  for (const finding of findings) console.error(finding)
  if (findings.length > 0) process.exitCode = 1
  await proved
} finally {
  consumer.remove()
}

async function judge(tarballs: readonly Tarball[]): Promise<string[]> {
  const findings: string[] = []
  for (const tarball of tarballs) findings.push(...(await checkTarball(tarball)))
  return findings
}

async function checkPrograms(consumer: Consumer): Promise<string[]> {
  const checks = await typeCheck(consumer, FEW_CHECKS)
  return checks.filter(({ output }) => output !== '').map(({ name, output }) => `${name}:\n${output}`)
}

async function proveCommands({ directory, command }: Consumer): Promise<void> {
  const line: CommandLine = { cwd: directory, of: (name) => [command(name)], env: pathWith(process.execPath) }
  const relay = await startPackagedRelay(line)
  try {
    await proveInstaller(relay)
    await proveExpose(line, relay)
  } finally {
    await relay.stop()
  }
}
