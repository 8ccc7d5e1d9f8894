#!/usr/bin/env node
// Starts `svc-relay` where all its code is one file: the relay, or the thread or child process that it starts from the same file.

import { isSea } from 'node:sea'
import { type Installation, setInstallation } from '../../../relay/src/core/installation.ts'
import { ADDON_PATH_VARIABLE, addonFile } from './native-addon.ts'
import { nameOfThisPart, processOfThisFile, threadOfThisFile } from './single-file.ts'
import { unpackAssets } from './unpack-assets.ts'

type ChildName = Parameters<Installation['process']>[0] | Parameters<Installation['thread']>[0]

const CHILDREN: Record<ChildName, () => Promise<unknown>> = {
  'signer-recovery-worker': () => import('../../../relay/src/core/auth/signer-recovery-worker.ts'),
  'dns-thread': () => import('@svc/dns/thread'),
  'worker-main': () => import('../../../relay/src/features/workers/worker-main.ts'),
  'quic-process': () => import('../../../relay/src/features/datagrams/quic-process.ts'),
}

const INSTALL_SCRIPTS = {
  'install.sh': () => import('../../../relay/src/features/installer/install.sh?raw'),
  'install.ps1': () => import('../../../relay/src/features/installer/install.ps1?raw'),
}

let documentation: string | undefined
setInstallation({
  thread: threadOfThisFile,
  process: (name, execArgv) => {
    const code = processOfThisFile(name, execArgv)
    if (name !== 'quic-process') return code
    return { ...code, env: { ...code.env, [ADDON_PATH_VARIABLE]: addonFile('http3') ?? '' } }
  },
  get quicReadable() {
    return [import.meta.filename, addonFile('http3')].filter((path) => path !== undefined)
  },
  pages: () => unpackAssets('pages'),
  documentation: () => (documentation ??= unpackAssets('documentation')),
  installScript: async (name) => (await INSTALL_SCRIPTS[name]()).default,
})

const child = CHILDREN[nameOfThisPart() as ChildName]
if (child !== undefined) await child()
// An executable has its V8 flags from its configuration.
else if (isSea()) await import('../../../relay/src/cli/serve.ts')
else await import('../../../relay/src/main.ts')
