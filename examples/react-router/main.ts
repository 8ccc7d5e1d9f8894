// React Router: publishes what `react-router build` made of the app.
import { publish } from '@svc/sdk-browser'
import { friendlyNames } from '../shared/name.ts'
import { showSite } from '../shared/show-site.ts'
import { fetch } from './app/build/site.js'

showSite(friendlyNames('react-router'), (site) => publish({ relay: location.origin, fetch, ...site }))
