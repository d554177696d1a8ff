import type { Actor } from '../../../src/core/process/record.ts'
import type { Request } from './intent.ts'
import { CHANNELS } from './requests.ts'

/** Messages to processes: most from the host, some from processes that may be strangers. */
export const messages: readonly Request[] = [
  {
    name: 'message',
    weight: 5,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = world.somePid()
      const from: Actor = random.chance(0.8) ? 'host' : `process:${world.somePid()}`
      // Few keys: some are repeated, with the same content or with another one.
      const key = `m${random.between(1, 20)}`
      const channel = random.chance(0.8) ? random.pick(CHANNELS) : null
      const to = `process:${pid}` as const
      const message = {
        from,
        channel,
        correlationId: null,
        replyTo: null,
        priority: 'normal',
        value: key,
      } as const
      const asked = { type: 'message', pid, to, message, key, actor: from, at: peer.clock.now() } as const
      track(`${pid} ${key}`, peer.kernel.perform(asked), () => {
        const stored = world.ledger.eventByKey(pid, `message:from:${from}:${key}`)
        if ((stored?.payload as { channel?: unknown } | undefined)?.channel !== channel)
          world.stage.violated('no lost acknowledged write', `message ${key} to ${pid} was accepted`)
      })
    },
  },
]
