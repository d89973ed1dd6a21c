// Node would read these certificates at each start, which takes longer than most of the commands that are tested.
delete process.env['NODE_EXTRA_CA_CERTS']
// It would be the width of tables.
delete process.env['COLUMNS']
