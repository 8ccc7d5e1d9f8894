// A local agent as a process of its own, with its own home, svc.toml and state directory.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { programFile } from '../../tools/bundler/programs.ts'

const MAIN = programFile('svc')

export interface AgentProcess {
  /** The address of the page, without a path. */
  readonly url: string
  readonly configPath: string
  /** @returns the text of svc.toml */
  config(): Promise<string>
  /** Replaces svc.toml, as an editor does. */
  edit(text: string): Promise<void>
  /** @returns the address of the page with a new ticket, as `svc agent open` prints it */
  pageWithTicket(): Promise<string>
  /** Ends the process without a word. */
  kill(): Promise<void>
  /** Starts it again where it was. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** @param config the text of svc.toml; `control_addr` is one that the system chooses at first, and stays */
export async function startAgent(config: string): Promise<AgentProcess> {
  const home = await mkdtemp(path.join(tmpdir(), 'svc-agent-e2e-'))
  const configPath = path.join(home, 'svc.toml')
  const state = ['--state-dir', path.join(home, 'state')]
  const { SVC_URL: _url, IDENTITY_PATH: _path, ...inherited } = process.env
  const env = { ...inherited, XDG_CONFIG_HOME: home, HOME: home }
  await writeFile(configPath, config)
  let child: ChildProcess
  const start = async (): Promise<string> => {
    const args = ['agent', 'run', '--foreground', '--json', '--config', configPath, ...state]
    child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface(child.stdout!)
    const [line] = await once(lines, 'line')
    return JSON.parse(line).url
  }
  const url = await start()
  return {
    url,
    configPath,
    config: () => readFile(configPath, 'utf8'),
    edit: (text) => writeFile(configPath, text),
    pageWithTicket: async () => {
      const asked = spawn(process.execPath, [MAIN, 'agent', 'open', '--json', ...state], { env })
      return JSON.parse(String(Buffer.concat(await asked.stdout.toArray()))).url
    },
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    start: async () => void (await start()),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      await rm(home, { recursive: true })
    },
  }
}
