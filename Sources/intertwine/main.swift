print("intertwine")
