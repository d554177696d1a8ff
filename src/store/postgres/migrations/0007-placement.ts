/** Where it is executed. Those of earlier versions have none: they are executed anywhere. */
export const sql = (at: string) => `
alter table ${at}process add column placement text;
`
