import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { objectName, objectVersion } from './shapes/object.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const objectHistory = verb({
  summary: 'Lists the versions of an object that the view of a process shows, the newest first.',
  route: 'GET /processes/{pid}/object/history',
  needs: 'read',
  input: () => z.strictObject({ pid: processRef.describe('the process whose view it is'), name: objectName }),
  output: () => z.strictObject({ versions: z.array(objectVersion).describe('at most 1,000') }),
  codes: [...processCodes, 'not_found'],
})
