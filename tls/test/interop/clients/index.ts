// The rows of the matrix, in the order in which it shows them.

import type { Client } from '../client.ts'
import { chromium } from './chromium.ts'
import { curl } from './curl.ts'
import { firefox } from './firefox.ts'
import { gnutls } from './gnutls.ts'
import { java } from './java.ts'
import { node, nodeOfNpm, nodeOfSystem } from './node.ts'
import { nss } from './nss.ts'
import { openssl } from './openssl.ts'
import { python } from './python.ts'

export const CLIENTS: readonly Client[] = [
  openssl,
  gnutls,
  nss,
  curl,
  chromium,
  firefox,
  java,
  python,
  node,
  nodeOfNpm,
  nodeOfSystem,
]
