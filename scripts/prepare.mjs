// npm runs this after `npm ci` and `npm install`: installs the hooks of git, and builds the relay's pages. Where the packages for that were left out, it
// says so, and the installation goes on. It must work on Node 18, as scripts/run.mjs does.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const packages = path.join(root, 'node_modules')
const executable = process.platform === 'win32' ? 'node.exe' : 'node'
const pinnedNode = path.join(packages, 'node/bin', executable)

installHooks()
if (!existsSync(pinnedNode) || !existsSync(path.join(packages, 'vite')))
  console.error(
    "The relay's pages are not built: that needs the development packages (npm ci without --omit=dev).",
  )
else if (hasBundler())
  process.exitCode =
    spawnSync(pinnedNode, ['scripts/site.ts', '--without-documentation'], { cwd: root, stdio: 'inherit' })
      .status ?? 1
else {
  console.error(
    'Packages are missing: npm leaves them out on a Node older than 20.19 or 22.12. `npm run site` installs them all the same.',
  )
  process.exitCode = 1
}

/** For a person who commits: not in continuous integration, nor in an unpacked archive. Without them, all else works. */
function installHooks() {
  const lefthook = path.join(packages, 'lefthook/bin/index.js')
  if (process.env.CI || !existsSync(path.join(root, '.git')) || !existsSync(lefthook)) return
  const { status, stderr, error } = spawnSync(process.execPath, [lefthook, 'install'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) console.error(`The hooks of git are not installed: ${error?.message ?? stderr}`)
}

/** @returns whether its native part is there, which npm takes for optional */
function hasBundler() {
  const scope = path.join(packages, '@rolldown')
  return existsSync(scope) && readdirSync(scope).some((name) => name.startsWith('binding-'))
}
