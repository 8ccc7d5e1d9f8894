// Loaded before an agent: kills its process, without a word, before the step of a change to svc.toml whose number stands in the
// file $KILL_AT_FILE. Steps are calls of the file system about files in the folder of svc.toml; they count from when that file is there.

import fs, { existsSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'

const file = process.env.KILL_AT_FILE!
const folder = dirname(file)
let steps = 0

function step(): void {
  if (!existsSync(file)) return
  steps++
  if (steps === Number(readFileSync(file, 'utf8'))) process.kill(process.pid, 'SIGKILL')
}

/** Puts a step before each call of a function whose first argument `concerns` svc.toml. */
function watch(object: object, names: readonly string[], concerns: (first: unknown) => boolean): void {
  const functions = object as Record<string, (...args: unknown[]) => unknown>
  for (const name of names) {
    const original = functions[name]!
    functions[name] = function (this: unknown, ...args: unknown[]) {
      if (concerns(args[0])) step()
      return original.apply(this, args)
    }
  }
}

const isInFolder = (path: unknown): boolean => typeof path === 'string' && dirname(path) === folder
watch(fs.promises, ['readFile', 'realpath', 'stat', 'rename', 'unlink'], isInFolder)
const { open } = fs.promises
fs.promises.open = async (...args) => {
  const isWatched = isInFolder(args[0]) || args[0] === folder
  if (isWatched) step()
  const handle = await open(...args)
  if (isWatched) watch(handle, ['stat', 'chmod', 'writeFile', 'sync', 'close'], () => true)
  return handle
}
syncBuiltinESMExports()
