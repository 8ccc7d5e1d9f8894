// A program for Node that uses each entry of @svc/sdk-node and @svc/relay: it is type-checked where the tarballs are installed.
import { type Relay, readSettings, startRelay } from '@svc/relay'
import { type Exposure, expose, openFolder, publish, type Site } from '@svc/sdk-node'
import { basicAuth, files } from '@svc/sdk-node/handlers'

export async function run(folder: string): Promise<[Relay, Site, Exposure]> {
  const settings = readSettings(process.env)
  const relay: Relay = await startRelay(settings)
  const handler = files(await openFolder(folder))
  const url = 'https://relay.localhost:4433'
  const site = await publish({ relay: url, name: 'files', fetch: handler })
  const exposure = await expose({ relay: url, name: 'app', http: 3000, onTargetError: console.error })
  return [relay, site, exposure]
}

export { basicAuth }
