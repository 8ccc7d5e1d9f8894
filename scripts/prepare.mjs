// npm runs this after `npm ci` and `npm install`: builds the relay's pages. Where the packages for that were left out, it
// says so and the installation goes on. It must work on Node 18, as scripts/run.mjs does.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const packages = path.join(root, 'node_modules')
const executable = process.platform === 'win32' ? 'node.exe' : 'node'
const pinnedNode = path.join(packages, 'node/bin', executable)

if (existsSync(pinnedNode) && existsSync(path.join(packages, 'vite'))) {
  const { status } = spawnSync(pinnedNode, ['scripts/site.ts'], { cwd: root, stdio: 'inherit' })
  process.exitCode = status ?? 1
} else {
  console.error(
    "The relay's pages are not built: that needs the development packages (npm ci without --omit=dev).",
  )
}
