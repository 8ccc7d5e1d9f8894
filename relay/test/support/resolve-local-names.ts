// Preloaded into the processes of relays with names below `localhost`, which find each other by them on every system.

import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { lookupLocal } from './local-names.ts'

dns.lookup = lookupLocal as typeof dns.lookup
syncBuiltinESMExports()
