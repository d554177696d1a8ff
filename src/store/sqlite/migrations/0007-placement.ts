/** Where it is executed. Those of earlier versions have none: they are executed anywhere. */
export const sql = `
alter table process add column placement text;
`
