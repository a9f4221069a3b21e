module libmnn-c.example/mnn

go 1.19
