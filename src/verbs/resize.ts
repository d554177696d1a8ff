import * as z from 'zod'
import { terminalSize } from './shapes/command-spec.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const resize = verb({
  summary: "Changes the size of a command's terminal.",
  route: 'POST /processes/{pid}/resize',
  needs: 'operate',
  repeat: 'always',
  input: z.strictObject({ pid: processRef, ...terminalSize }),
  output: z.strictObject({ type: z.enum(['resized']) }),
  codes: [
    'unknown_pid',
    'ambiguous_pid',
    'pruned_pid',
    'denied',
    'not_command',
    'not_served',
    'already_ended',
    'no_terminal',
  ],
})
