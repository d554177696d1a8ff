import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { objectName, objectVersion } from './shapes/object.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const diffObject = verb({
  summary: 'Compares two versions of an object in the view of a process, line by line.',
  description: 'Needs the right `diff` in the view.',
  route: 'GET /processes/{pid}/object/diff',
  needs: 'read',
  input: () =>
    z.strictObject({
      pid: processRef.describe('the process whose view it is'),
      name: objectName,
      from: count.min(1).exactOptional().describe('a version; the one before `to` if it is left out'),
      to: count.min(1).exactOptional().describe('a version; the newest if it is left out'),
    }),
  output: () =>
    z.strictObject({
      from: objectVersion,
      to: objectVersion,
      text: z.string().describe('the lines that differ, with those around them'),
      isCut: z.boolean().describe('a part is left out'),
    }),
  codes: [...processCodes, 'not_found', 'not_available'],
})
