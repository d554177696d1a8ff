import * as z from 'zod'

/** Neither `=` nor NUL: no operating system takes them. */
export const variableName = z.string().regex(/^[^=\0]+$/, 'must not be empty, nor have = or NUL in it')
export const variableValue = z.string().regex(/^[^\0]*$/, 'must not have NUL in it')
