import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { objectName, shownObject } from './shapes/object.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const releaseObject = verb({
  summary: 'Removes an object, or a handle to one, from the view of a process.',
  description: 'Forks that began earlier, and processes with a handle to it, keep what they see.',
  route: 'POST /processes/{pid}/objects/release',
  needs: 'operate',
  input: () => z.strictObject({ pid: processRef.describe('the process whose view it is'), name: objectName }),
  output: () => z.strictObject({ object: shownObject }),
  codes: [...processCodes, 'not_found', 'already_ended'],
})
