"""Operations that people and agents ask alike: the table of tool sets, one folder a set."""
