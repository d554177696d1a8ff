import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { Check } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'

interface Mail {
  /** Messages that no wait has taken, oldest first. */
  untaken: readonly { readonly seq: number; readonly channel: string | null }[]
  /** The wait on messages that is open. Without a channel it takes any message. */
  waitsOn: { readonly wait: string; readonly channel: string | undefined } | undefined
}

const LAW = 'messages are received once, in order'

/** A wait takes the oldest message of its channel that no wait has taken, and none is open while such a message is there. */
export function checkMessages(stage: Stage): Check {
  const mails = new Map<string, Mail>()

  const selects = (channel: string | undefined) => (message: Mail['untaken'][number]) =>
    channel === undefined || channel === message.channel

  const heard = (mail: Mail, event: StoredEvent) => {
    const received = payloadOf(event, 'message_received')
    if (received !== undefined)
      mail.untaken = [...mail.untaken, { seq: event.seq, channel: received.channel }]
    const entered = payloadOf(event, 'wait_entered')
    if (entered?.on === 'message') mail.waitsOn = { wait: waitOf(entered), channel: entered.filter?.channel }
    const left = payloadOf(event, 'wait_left')
    if (left?.on === 'message') {
      if (left.how === 'message') taken(mail, event, left.messageSeq)
      mail.waitsOn = undefined
    }
    if (['holder_lost', 'released', 'ended'].includes(event.type)) mail.waitsOn = undefined
  }

  const taken = (mail: Mail, { pid }: StoredEvent, seq: number | undefined) => {
    const oldest = mail.untaken.find(selects(mail.waitsOn?.channel))
    if (mail.waitsOn === undefined || oldest?.seq !== seq)
      stage.violated(LAW, `${pid} took ${seq}, the oldest for ${mail.waitsOn?.wait} is ${oldest?.seq}`)
    mail.untaken = mail.untaken.filter((message) => message.seq !== seq)
  }

  return {
    process({ row }, _before, stored) {
      const mail = mails.get(row.record.pid) ?? { untaken: [], waitsOn: undefined }
      mails.set(row.record.pid, mail)
      for (const event of stored) heard(mail, event)
    },
    committed(touched) {
      for (const { pid, record } of touched) {
        const mail = mails.get(pid)
        if (mail?.waitsOn === undefined || record.outcome !== null) continue
        const there = mail.untaken.find(selects(mail.waitsOn.channel))
        if (there !== undefined)
          stage.violated(LAW, `${pid} waits on ${mail.waitsOn.wait}, and message ${there.seq} is there`)
      }
    },
  }
}

function waitOf({ name, ordinal }: { readonly name: string; readonly ordinal: number }): string {
  return `${name} ${ordinal}`
}
