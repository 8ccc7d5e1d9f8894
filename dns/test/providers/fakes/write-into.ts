// Makes a stand-in write what it is asked to change into a real DNS server.
import type { Bind9 } from '../../../../tools/programs/bind9.ts'
import type { FakeRecord, FakeZone } from './fake-zone.ts'

/** From now on, each change of the zone is one update of bind9. */
export function writeInto(bind9: Bind9, zone: FakeZone): void {
  zone.onChange = async (before) => {
    const gone = before.filter((record) => !zone.records.includes(record))
    const made = zone.records.filter((record) => !before.includes(record))
    const line = ({ name, type, data }: FakeRecord): string => `${name}. 0 ${type} ${data}`
    const commands = [
      ...gone.map((record) => `del ${line(record)}`),
      ...made.map((record) => `add ${line(record)}`),
    ]
    if (commands.length > 0) bind9.update(...commands)
  }
}
