import * as z from 'zod'
import { owner } from './shapes/owner.ts'
import { lifetime } from './shapes/record.ts'
import { recognised } from './shapes/registration.ts'
import { processRef } from './shapes/scalars.ts'
import { spawn } from './spawn.ts'
import { verb } from './verb.ts'

export const track = verb({
  summary: 'Tracks an OS process that Reeve did not start, by its PID.',
  description:
    "Registers an external process for an OS process that runs on the daemon's machine as the daemon's user. Stops reach it as signals, each sent only if boot, PID and start time are still the same, and its end is noticed. It needs the role `admin`, because Reeve signals any PID that it tracks.",
  route: 'POST /track',
  needs: 'admin',
  input: () =>
    z.strictObject({
      osPid: z.number().int().min(2).max(4_194_304).describe('the PID'),
      description: z
        .string()
        .min(1)
        .max(1_000)
        .exactOptional()
        .describe('what it does; the name of its program by default'),
      ...recognised,
      label: z.string().min(1).max(200).exactOptional().describe('a name for people'),
      parent: processRef.exactOptional(),
      owner: owner.exactOptional().describe('the scope that it belongs to'),
      lifetime: lifetime
        .exclude(['daemon'])
        .default('detached')
        .describe('with what Reeve asks it to end; detached: with nothing'),
    }),
  output: () => spawn.output,
  codes: [
    'not_trackable',
    'conflict',
    'pruned_pid',
    'unknown_pid',
    'ambiguous_pid',
    'already_ended',
    'stopping',
    'session_unknown',
    'session_ended',
    'turn_unknown',
    'turn_ended',
    'lifetime_without_scope',
    'depth_exceeded',
    'limit_exceeded',
    'denied',
  ],
})
