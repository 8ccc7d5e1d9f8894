// Astro: publishes what `astro build` made of the site.
import { publish } from '@svc/sdk-browser'
import { friendlyNames } from '../shared/name.ts'
import { showSite } from '../shared/show-site.ts'
import { fetch } from './app/build/site.js'

showSite(friendlyNames('astro'), (site) => publish({ relay: location.origin, fetch, ...site }))
