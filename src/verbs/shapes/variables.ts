import * as z from 'zod'

/** Operating systems accept neither `=` nor NUL in a name. */
export const variableName = z.string().regex(/^[^=\0]+$/, 'must not be empty, nor have = or NUL in it')
export const variableValue = z.string().regex(/^[^\0]*$/, 'must not have NUL in it')
