import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { Check, Ledger } from '../ledger.ts'
import type { Stage } from '../stage.ts'

interface Mail {
  /** By name: the signals that no wait has taken, by `seq`, oldest first. */
  readonly untaken: Map<string, number[]>
  waitsOn: { readonly name: string; readonly wait: string } | undefined
}

/** The n-th wait on a name gets the n-th signal of that name, and no process waits while its signal is pending. */
export function checkSignals(stage: Stage, ledger: Ledger): Check {
  const mails = new Map<string, Mail>()

  const heard = (mail: Mail, event: StoredEvent) => {
    const payload = event.payload as Readonly<Record<string, unknown>>
    if (event.type.startsWith('signal.')) {
      const name = event.type.slice('signal.'.length)
      mail.untaken.set(name, [...(mail.untaken.get(name) ?? []), event.seq])
    } else if (event.type === 'wait_entered') {
      mail.waitsOn = { name: String(payload['name']), wait: waitOf(payload) }
    } else if (event.type === 'wait_left') {
      // An answer may arrive before its wait: then it ends no other wait.
      if (mail.waitsOn?.wait === waitOf(payload)) mail.waitsOn = undefined
      if (payload['how'] === 'signal')
        taken(mail, event, String(payload['name']), Number(payload['signalSeq']))
    } else if (['holder_lost', 'released', 'ended'].includes(event.type)) {
      mail.waitsOn = undefined
    }
  }

  const taken = (mail: Mail, event: StoredEvent, name: string, seq: number) => {
    const [oldest, ...rest] = mail.untaken.get(name) ?? []
    if (oldest !== seq)
      stage.violated(
        'signals are taken in order',
        `${event.pid} took ${name} at ${seq}, the oldest is ${oldest}`,
      )
    mail.untaken.set(name, rest)
  }

  return {
    process({ row }, _before, stored) {
      const mail = mails.get(row.record.pid) ?? { untaken: new Map(), waitsOn: undefined }
      mails.set(row.record.pid, mail)
      for (const event of stored) heard(mail, event)
    },
    committed(touched) {
      for (const { pid, record } of touched) {
        const mail = mails.get(pid)
        if (mail?.waitsOn?.wait.startsWith('signal ') !== true || record.outcome !== null) continue
        const lies = mail.untaken.get(mail.waitsOn.name) ?? []
        if (lies.length > 0)
          stage.violated(
            'signals are taken in order',
            `${pid} waits on ${mail.waitsOn.name}, and ${lies.length} lie there`,
          )
      }
    },
    full() {
      for (const { pid, record } of ledger.processes.values()) {
        for (const [name, untaken] of mails.get(pid)?.untaken ?? []) {
          const pending = record.signals[name]?.pending ?? []
          if (pending.join() !== untaken.join())
            stage.violated(
              'signals are taken in order',
              `${pid} has ${name} [${pending}], and should have [${untaken}]`,
            )
        }
      }
    },
  }
}

function waitOf(payload: Readonly<Record<string, unknown>>): string {
  return `${payload['on']} ${payload['name']} ${payload['ordinal']}`
}
