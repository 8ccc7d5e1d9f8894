// The type of protobuf contents of which nothing says it, as a person chose it: it stays from one request to the next.

import { Store } from '../common/store.ts'

export const messageType: Store<string | undefined> = new Store<string | undefined>(undefined)
