import * as z from 'zod'
import { actor } from './shapes/actor.ts'
import { processCodes } from './shapes/codes.ts'
import { time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const revokeObject = verb({
  summary: 'Takes back a handle to an object, and all handles that were made from it.',
  description:
    'Its giver and the process of the object may do that. It never gives a right again: not in a fork, and not in a restored process.',
  route: 'POST /handles/{handle}/revoke',
  needs: 'operate',
  repeat: 'always',
  input: () =>
    z.strictObject({ handle: z.string().max(100).describe('the handle, as `linkObject` answered') }),
  output: () =>
    z.strictObject({ handle: z.string(), by: actor, at: time.describe('when it was taken back') }),
  codes: [...processCodes, 'not_found'],
})
